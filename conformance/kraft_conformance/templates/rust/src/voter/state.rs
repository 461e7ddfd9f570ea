//! What a member keeps: its role, what belongs to one stay in it, and what is on disk.

use super::key::Key;
use super::log::Log;
use std::collections::{BTreeMap, BTreeSet};

/// The roles of a replica, named as they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Role {
    Unattached,
    Prospective,
    Candidate,
    Leader,
    Follower,
    Resigned,
    #[default]
    Stopped,
}

/// What survives a crash: the quorum state file, and the log up to where it was synced.
#[derive(Clone, Default)]
pub struct Disk {
    pub epoch: i64,
    pub leader_id: Option<i64>,
    pub voted_key: Option<Key>,
    pub log: Log,
}

/// What belongs to one stay in a role.
#[derive(Default)]
pub struct Stay {
    /// Prospective, Candidate: who granted, itself included, and who refused in this round.
    pub granted: BTreeSet<i64>,
    pub rejected: BTreeSet<i64>,
    /// Follower: whether a fetch succeeded.
    pub fetched: bool,
    /// Leader: where its epoch begins, how far each replica has fetched, who fetched in this check-quorum period.
    pub epoch_start: i64,
    pub fetch_offsets: BTreeMap<Key, i64>,
    pub fetchers: BTreeSet<i64>,
    /// Leader, Resigned: who answered the announcement.
    pub acknowledged: BTreeSet<i64>,
    /// Resigned: whom it would like to see as the next leader.
    pub preferred_candidates: Vec<Key>,
    /// Outstanding requests: receiver to correlation id.
    pub awaiting: BTreeMap<i64, i64>,
}
