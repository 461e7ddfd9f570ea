//! THE SEAM: everything above it speaks kraft-adapter/1, everything below it is an implementation of KRaft.
//!
//! Implement `Replica` for your own replica, put it into main.rs, and delete the folder voter.
//! Messages, effects and states are JSON objects with the names of kraft-spec's docs/trace-format.md.

// Your replica may not need all of it.
#![allow(dead_code)]

use crate::json::Json;

pub trait Replica {
    /// What is tested, and how much of it can be: the fields of the reply to hello, without `schema`.
    ///
    /// Begin with much in `unsupported` and with the observability `wire`, and take away and raise as you go.
    fn hello(&self) -> Json;

    /// Forget everything.  You are replica `id` of `cluster` with an empty disk, formatted and started: Unattached in
    /// epoch 0.
    fn reset(&mut self, id: i64, cluster: &Json) -> Result<(), Failure>;

    /// An event happens: a message arrives (Handle...), a timer fires (...Timeout), the replica is polled, a client
    /// appends.
    ///
    /// `message` is what arrives and `input` the event's own fields; `Json::Null` if there is none.
    fn step(&mut self, event: &str, message: &Json, input: &Json, draw: Draw) -> Result<Step, Failure>;

    /// The fields of the state, asked for only if the observability is `state`.
    fn observe(&self) -> Result<Json, Failure>;

    /// The process dies; of the log the records before `log_end_offset` survive, of all else what was synced.
    fn crash(&mut self, log_end_offset: i64) -> Result<(), Failure>;

    /// The process starts from its disk, and listens at `endpoint` if there is one.
    fn restart(&mut self, endpoint: Option<&str>, draw: Draw) -> Result<Step, Failure>;
}

/// What the runner owns, because it is chance: take these in place of numbers of your own.
#[derive(Clone, Copy, Default)]
pub struct Draw {
    pub correlation_id: i64,
    pub election_timeout_ms: i64,
    pub election_backoff_ms: i64,
}

/// What came of an event: what the replica writes, sends and starts, in its order.
pub struct Step {
    /// Such as {"kind":"Send","message":{...}}; below the observability `effects` only Send and Answer.
    pub effects: Vec<Json>,
    /// The reason code of an event that changed nothing, None for one that did something, or UNSAID.
    pub refusal: Option<&'static str>,
}

/// Your replica does not say why it does nothing, or has other reasons than the codes: that is not judged.
pub const UNSAID: Option<&str> = Some("");

/// Why a request cannot be carried out.
#[derive(Debug)]
pub enum Failure {
    /// This implementation does not have it; the vector is then unsupported and not failed.
    Unsupported(String),
    Failed(String),
}
