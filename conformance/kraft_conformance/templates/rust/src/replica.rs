//! THE SEAM: everything above it speaks kraft-adapter/1, everything below it is an implementation of KRaft.
//!
//! Implement `Replica` for your own replica, put it into main.rs, and delete the folder voter.
//! Messages, effects and states are JSON objects with the names of kraft-spec's docs/trace-format.md.

// Your replica may not need all of it.
#![allow(dead_code)]

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub trait Replica {
    /// What is tested, and how much of it can be: the fields of the reply to hello, without `schema`.
    ///
    /// Begin with much in `unsupported` and with the observability `wire`, and take away and raise as you go.
    fn hello(&self) -> Value;

    /// Forget everything.  You are replica `id` of `cluster` with an empty disk, formatted and started: Unattached in
    /// epoch 0.
    fn reset(&mut self, id: i64, cluster: Cluster) -> Result<(), Failure>;

    /// An event happens: a message arrives (Handle...), a timer fires (...Timeout), the replica is polled, a client
    /// appends.
    ///
    /// Gives what the replica writes, sends and starts, in its order, such as {"kind":"Send","message":{...}}; below
    /// the observability `effects` only Send and Answer.
    fn step(&mut self, event: &str, message: Option<Message>, input: Input, draw: Draw) -> Result<Vec<Value>, Failure>;

    /// The fields of the state, asked for only if the observability is `state`.
    fn observe(&self) -> Value;

    /// The process dies; of the log the records before `log_end_offset` survive, of all else what was synced.
    fn crash(&mut self, log_end_offset: usize);

    /// The process starts from its disk, and listens at `endpoint` if there is one.
    fn restart(&mut self, endpoint: Option<String>, draw: Draw) -> Result<Vec<Value>, Failure>;
}

/// Why a request cannot be carried out.
#[derive(Debug)]
pub enum Failure {
    /// This implementation does not have it; the vector is then unsupported and not failed.
    Unsupported(String),
    Failed(String),
}

/// What the runner owns, because it is chance: take these in place of numbers of your own.
#[derive(Clone, Copy, Default, Deserialize)]
pub struct Draw {
    pub correlation_id: i64,
    pub election_timeout_ms: i64,
    pub election_backoff_ms: i64,
}

/// The fields of an event that is no message: the part that is needed here.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Input {
    pub destination: i64,
}

/// The id of a replica and the directory id of its disk, if it is known.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Key {
    pub id: i64,
    pub directory_id: Option<String>,
}

/// What the operators set up before the replica starts: the part that is needed here.
#[derive(Default, Deserialize)]
pub struct Cluster {
    pub profile: String,
    pub cluster_id: String,
    pub replicas: Vec<Software>,
    pub voters: Vec<Key>,
    pub bootstrap_servers: Vec<i64>,
    pub timeouts: Timeouts,
}

#[derive(Deserialize)]
pub struct Software {
    #[serde(flatten)]
    pub key: Key,
    pub endpoint: String,
    pub pre_vote: String,
    pub endpoints: bool,
}

#[derive(Default, Deserialize)]
pub struct Timeouts {
    pub fetch_timeout_ms: i64,
}

/// A message that arrives, of any type: what another type has is left at its default.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Message {
    pub source: i64,
    pub destination: i64,
    pub correlation_id: i64,
    pub error: String,
    pub epoch: i64,
    pub leader_id: Option<i64>,
    pub leader_endpoint: Option<String>,
    pub cluster_id: Option<String>,
    pub replica_key: Option<Key>,
    pub voter_key: Option<Key>,
    pub last_epoch: i64,
    pub end_offset: i64,
    pub pre_vote: bool,
    pub granted: bool,
    pub high_watermark: i64,
    pub diverging_epoch: Option<i64>,
    pub records: Vec<Value>,
}
