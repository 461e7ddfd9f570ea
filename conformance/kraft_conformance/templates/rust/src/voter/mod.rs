//! A minimal voter, there so that the adapter can be seen working: elections, the announcement of a leader, and the
//! Fetch of a Follower, with voters that never change.

mod elections;
mod replication;

use crate::adapter::needed;
use crate::replica::{Cluster, Draw, Failure, Input, Key, Message, Replica};
use serde::Serialize;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Default, PartialEq, Serialize)]
enum Role {
    #[default]
    Stopped,
    Unattached,
    Prospective,
    Candidate,
    Leader,
    Follower,
    Resigned,
}

#[derive(Clone, Default, PartialEq)]
struct QuorumState {
    epoch: i64,
    leader: Option<i64>,
    voted: Option<Key>,
}

/// What a Voter keeps of one stay in a role.
#[derive(Default)]
struct Stay {
    answered: BTreeSet<i64>, // voters: in this round of an election; at a Leader: to its announcement
    granted: usize,          // how many of the voters, in this round
    rejected: usize,         // likewise
    awaiting: BTreeMap<i64, i64>, // receiver of a request to its correlation id
    fetched: bool,           // a Fetch of the Follower succeeded
}

#[derive(Default)]
pub struct Voter {
    cluster: Cluster,
    key: Key,

    // On disk at the end of the step, and what of it was there at its beginning.
    quorum: QuorumState,
    log: Vec<Value>,
    flushed: usize, // the records before it are synced
    saved: QuorumState,
    written: usize,
    synced: usize,

    role: Role,
    stay: Stay,
    high_watermark: Option<usize>,

    // Of one step.
    draw: Draw,
    sends: Vec<Value>,
    timers: BTreeMap<&'static str, i64>,
}

impl Replica for Voter {
    fn hello(&self) -> Value {
        json!({
            "implementation": {"name": "minimal-voter-rust", "version": "2"},
            "kip_levels": {"KIP-595": "partial", "KIP-996": "full", "KIP-853": "partial"},
            "kraft_versions": [1],
            "profile": "kip",
            "observability": "state",
            "unsupported": [
                "observers", "crash-in-step", "snapshots", "disk-replacement", "voter-changes", "voters-records",
                "append-voters", "auto-join", "kraft-version-upgrade", "quorum-reassignment", "fetch-limit",
            ],
        })
    }

    fn reset(&mut self, id: i64, cluster: Cluster) -> Result<(), Failure> {
        let own = cluster.replicas.iter().find(|one| one.key.id == id);
        let own = own.ok_or_else(|| Failure::Failed(format!("the cluster has no replica {id}")))?;
        if cluster.profile != "kip" || own.pre_vote != "supported" || !own.endpoints {
            let what = "another profile than kip, or software without Pre-Vote or without endpoints";
            return Err(Failure::Unsupported(what.into()));
        }
        *self = Voter { key: own.key.clone(), cluster, ..Voter::default() };
        self.restart(None, Draw::default()).map(|_| ())
    }

    fn step(&mut self, event: &str, message: Option<Message>, input: Input, draw: Draw) -> Result<Vec<Value>, Failure> {
        self.begin(draw);
        if message.as_ref().is_some_and(|message| self.is_beyond(message)) {
            return Err(Failure::Unsupported("a log that has to be cut, or a leader that has moved".into()));
        }
        match event {
            "ElectionTimeout" => self.on_election_timeout(),
            "FetchTimeout" if self.role == Role::Follower => self.nominate(),
            "FetchTimeout" => {}
            "RequestTimeout" => drop(self.stay.awaiting.remove(&input.destination)),
            "Poll" => self.on_poll(),
            "PollFetch" => self.on_poll_fetch(input.destination),
            "HandleVoteRequest" => self.on_vote_request(&needed(message)?),
            "HandleVoteResponse" => self.on_vote_response(needed(message)?),
            "HandleBeginQuorumEpochRequest" => self.on_begin_quorum_epoch_request(&needed(message)?),
            "HandleBeginQuorumEpochResponse" => self.on_begin_quorum_epoch_response(&needed(message)?),
            "HandleFetchResponse" => self.on_fetch_response(needed(message)?),
            _ => return Err(Failure::Unsupported(format!("the event {event}"))),
        }
        Ok(self.effects())
    }

    fn observe(&self) -> Value {
        json!({
            "role": self.role,
            "epoch": self.quorum.epoch,
            "leader_id": self.quorum.leader,
            "leader_endpoint": self.leader_endpoint().filter(|_| self.role != Role::Stopped),
            "voted_key": self.quorum.voted,
            "log_end_offset": self.log.len(),
            "high_watermark": self.high_watermark.map_or(-1, |offset| offset as i64),
            "fetched": self.stay.fetched,
            "awaiting": self.stay.awaiting.iter().collect::<Vec<_>>(),
        })
    }

    fn crash(&mut self, log_end_offset: usize) {
        self.log.truncate(log_end_offset);
        self.flushed = self.log.len();
        self.high_watermark = None;
        self.enter(Role::Stopped);
    }

    /// The role in which a process starts from its disk.  Rules: durable.restart.*.
    fn restart(&mut self, endpoint: Option<String>, draw: Draw) -> Result<Vec<Value>, Failure> {
        if endpoint.is_some() {
            return Err(Failure::Unsupported("another endpoint after a restart: it needs UpdateVoter".into()));
        }
        self.begin(draw);
        if self.quorum.leader == Some(self.key.id) {
            self.enter(Role::Resigned);
        } else if self.quorum.leader.is_none() && self.quorum.voted.as_ref() == Some(&self.key) {
            self.enter(Role::Candidate);
            self.count(self.key.id, true);
        } else {
            self.follow_or_search();
        }
        Ok(self.effects())
    }
}

impl Voter {
    fn endpoint_of(&self, id: i64) -> Option<&String> {
        self.cluster.replicas.iter().find(|one| one.key.id == id).map(|one| &one.endpoint)
    }

    fn leader_endpoint(&self) -> Option<&String> {
        self.quorum.leader.and_then(|leader| self.endpoint_of(leader))
    }

    /// What this voter cannot take: a log that has to be cut, or a leader that has moved.
    fn is_beyond(&self, message: &Message) -> bool {
        let endpoint = self.endpoint_of(message.leader_id.unwrap_or(message.source));
        let has_moved = message.leader_endpoint.is_some() && message.leader_endpoint.as_ref() != endpoint;
        has_moved || message.diverging_epoch.is_some_and(|epoch| epoch >= 0)
    }

    fn begin(&mut self, draw: Draw) {
        self.draw = draw;
        self.sends.clear();
        self.timers.clear();
        (self.saved, self.written, self.synced) = (self.quorum.clone(), self.log.len(), self.flushed);
    }

    /// The only way into a role: what belongs to the stay in the last one is forgotten.
    fn enter(&mut self, role: Role) {
        // The election timer.
        let runs_on = role == Role::Unattached && matches!(self.role, Role::Unattached | Role::Resigned);
        self.role = role;
        self.stay = Stay::default();
        self.timers.clear();
        let fetch_ms = self.cluster.timeouts.fetch_timeout_ms;
        match role {
            Role::Follower => drop(self.timers.insert("fetch", fetch_ms)),
            Role::Leader if self.is_majority(1) => {}
            Role::Leader => {
                self.timers.extend([("check-quorum", fetch_ms * 3 / 2), ("begin-quorum-epoch", fetch_ms / 2)])
            }
            _ if runs_on => {}
            _ => drop(self.timers.insert("election", self.draw.election_timeout_ms)),
        }
    }

    /// The effects of a step: first what has to be on disk, then what is sent, then the timers.
    ///
    /// THE POINT OF IT: nothing leaves before what it depends on is written and synced.
    /// Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
    fn effects(&mut self) -> Vec<Value> {
        let mut effects = Vec::new();
        let QuorumState { epoch, leader, voted } = &self.quorum;
        if self.quorum != self.saved {
            effects.push(json!({"kind": "PersistQuorumState", "epoch": epoch, "leader_id": leader, "voted_key": voted,
                "version": 1}));
        }
        let written = self.written;
        if self.log.len() > written {
            effects.push(json!({"kind": "AppendRecords", "base_offset": written, "records": self.log[written..]}));
        }
        if self.flushed > self.synced {
            effects.push(json!({"kind": "FlushLog", "end_offset": self.flushed}));
        }
        effects.append(&mut self.sends);
        for (timer, duration) in &self.timers {
            effects.push(json!({"kind": "StartTimer", "timer": timer, "duration_ms": duration}));
        }
        effects
    }

    fn send(&mut self, kind: &str, destination: i64, correlation_id: i64, mut message: Value) {
        message["type"] = kind.into();
        message["source"] = self.key.id.into();
        message["destination"] = destination.into();
        message["correlation_id"] = correlation_id.into();
        message["epoch"] = self.quorum.epoch.into();
        self.sends.push(json!({"kind": "Send", "message": message}));
    }

    /// A request of its own, which awaits its answer.
    fn ask(&mut self, kind: &str, receiver: i64, mut request: Value) {
        request["cluster_id"] = self.cluster.cluster_id.clone().into();
        self.stay.awaiting.insert(receiver, self.draw.correlation_id);
        self.send(kind, receiver, self.draw.correlation_id, request);
    }

    /// The answer to a request, with what this voter knows after it.
    fn answer(&mut self, request: &Message, kind: &str, error: &str, mut response: Value) {
        response["error"] = error.into();
        response["leader_id"] = self.quorum.leader.into();
        response["leader_endpoint"] = self.leader_endpoint().cloned().into();
        self.send(kind, request.source, request.correlation_id, response);
    }
}
