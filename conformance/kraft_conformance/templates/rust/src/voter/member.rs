//! One member of a quorum: what it knows, how it enters a role, and how a step ends.

use super::key::Key;
use super::log::{Log, VoterEntry};
use super::setup::Setup;
use super::state::{Disk, Role, Stay};
use crate::json::Json;
use crate::object;
use crate::replica::{Draw, Failure, Step};

/// What came of an event: nothing to add, or the reason why it changed nothing.
pub type Handled = Result<Option<&'static str>, Failure>;

pub const ACTED: Handled = Ok(None);

pub struct Member {
    pub setup: Setup,
    pub key: Key,
    pub disk: Disk,

    // Also on disk.
    pub epoch: i64,
    pub leader_id: Option<i64>,
    pub voted_key: Option<Key>,
    pub log: Log,

    // Lost in a crash.
    pub role: Role,
    pub leader_endpoint: Option<String>,
    /// Offset after the last record known to be committed, -1 while unknown.
    pub high_watermark: i64,
    pub stay: Stay,

    // Of one step.
    pub draw: Draw,
    sends: Vec<Json>,
    timers: Vec<(&'static str, i64)>,
    role_before: Role,
    entered: bool,
}

impl Member {
    /// A stopped member with what is on its disk.
    pub fn new(setup: Setup, disk: Disk) -> Member {
        Member {
            key: setup.key.clone(),
            epoch: disk.epoch,
            leader_id: disk.leader_id,
            voted_key: disk.voted_key.clone(),
            log: disk.log.clone(),
            setup,
            disk,
            role: Role::Stopped,
            leader_endpoint: None,
            high_watermark: -1,
            stay: Stay::default(),
            draw: Draw::default(),
            sends: Vec::new(),
            timers: Vec::new(),
            role_before: Role::Stopped,
            entered: false,
        }
    }

    // ---- Voters. -----------------------------------------------------------------------------------------

    /// The newest voters set in the own log, committed or not, else the one it was formatted with.
    fn voter_entries(&self) -> &[VoterEntry] {
        self.log.voters().1.map_or(&self.setup.formatted_voters, |record| &record.voters)
    }

    pub fn voters(&self) -> Vec<Key> {
        self.voter_entries().iter().map(|entry| entry.key.clone()).collect()
    }

    pub fn other_voters(&self) -> Vec<Key> {
        self.voters().into_iter().filter(|voter| *voter != self.key).collect()
    }

    pub fn is_voter(&self) -> bool {
        self.voters().contains(&self.key)
    }

    pub fn is_majority(&self, number: usize) -> bool {
        2 * number > self.voter_entries().len()
    }

    fn endpoint_of(&self, voter: i64) -> Option<String> {
        let entry = self.voter_entries().iter().find(|entry| entry.key.id == voter);
        entry.and_then(|entry| entry.endpoint.clone())
    }

    // ---- Roles. ------------------------------------------------------------------------------------------

    /// The only way into a role: what belongs to the stay in the last one is forgotten.
    pub fn enter(
        &mut self,
        role: Role,
        epoch: i64,
        leader_id: Option<i64>,
        endpoint: Option<String>,
        vote: Option<Key>,
    ) {
        self.role = role;
        self.epoch = epoch;
        self.leader_id = leader_id;
        self.leader_endpoint = endpoint;
        self.voted_key = vote;
        self.stay = Stay::default();
        self.entered = true;
    }

    /// Follower of a leader, or Unattached that remembers it while nobody says where it listens.
    pub fn follow(&mut self, epoch: i64, leader: i64, endpoint: Option<String>) {
        let known = endpoint.or_else(|| self.endpoint_of(leader));
        let vote = if epoch == self.epoch { self.voted_key.clone() } else { None };
        let role = if known.is_some() { Role::Follower } else { Role::Unattached };
        self.enter(role, epoch, Some(leader), known, vote);
    }

    /// What any message teaches: a larger epoch, or the leader of the own one.  True if there was something.
    ///
    /// Rules: state.learn-higher-epoch.*, state.unattached.leader, state.candidate.leader-equal-epoch.
    pub fn learn(&mut self, epoch: i64, leader_id: Option<i64>, endpoint: Option<String>) -> bool {
        let named = leader_id.filter(|leader| *leader != self.key.id);
        if epoch > self.epoch {
            match named {
                Some(leader) => self.follow(epoch, leader, endpoint),
                None => self.enter(Role::Unattached, epoch, None, None, None),
            }
            return true;
        }
        let endpoint_is_new = self.leader_id == named && self.role == Role::Unattached && endpoint.is_some();
        match named {
            Some(leader) if epoch == self.epoch && (self.leader_id.is_none() || endpoint_is_new) => {
                self.follow(epoch, leader, endpoint);
                true
            }
            _ => false,
        }
    }

    /// Does a message name another leader of the own epoch than the one that is known?
    pub fn names_second_leader(&self, epoch: i64, leader: Option<i64>) -> bool {
        epoch == self.epoch && leader.is_some() && self.leader_id.is_some() && self.leader_id != leader
    }

    /// Does a response match an outstanding request?  If so, its connection is idle again.
    pub fn is_correlated(&mut self, response: &Json) -> Result<bool, Failure> {
        let source = response.int("source")?;
        let correlated = self.stay.awaiting.get(&source) == Some(&response.int("correlation_id")?);
        if correlated {
            self.stay.awaiting.remove(&source);
        }
        Ok(correlated)
    }

    /// Why a correlated response is of no use: another cluster, an older epoch, a second leader.
    pub fn useless(&self, response: &Json) -> Handled {
        let epoch = response.int("epoch")?;
        Ok(if response.text("error")? == "INCONSISTENT_CLUSTER_ID" {
            Some("ERROR_RESPONSE")
        } else if epoch < self.epoch {
            Some("STALE_EPOCH")
        } else if self.names_second_leader(epoch, response.get("leader_id").as_int()) {
            Some("SECOND_LEADER_IN_EPOCH")
        } else {
            None
        })
    }

    /// True if a response taught this member an epoch or a leader.
    pub fn learn_from(&mut self, response: &Json) -> Result<bool, Failure> {
        let endpoint = response.get("leader_endpoint").as_text().map(str::to_string);
        Ok(self.learn(response.int("epoch")?, response.get("leader_id").as_int(), endpoint))
    }

    pub fn is_foreign(&self, request: &Json) -> bool {
        request.get("cluster_id").as_text().is_some_and(|cluster| cluster != self.setup.cluster_id)
    }

    // ---- A step. -----------------------------------------------------------------------------------------

    pub fn begin(&mut self, draw: Draw) {
        self.draw = draw;
        self.role_before = self.role;
        self.entered = false;
        self.sends.clear();
        self.timers.clear();
    }

    fn send(&mut self, kind: &str, destination: i64, correlation_id: i64, fields: Json) {
        let message = object! {
            "type": kind,
            "source": self.key.id,
            "destination": destination,
            "correlation_id": correlation_id,
        };
        self.sends.push(object! {"kind": "Send", "message": message.with(fields)});
    }

    /// A request of its own, which awaits its answer.
    pub fn ask(&mut self, kind: &str, receiver: i64, fields: Json) {
        let correlation_id = self.draw.correlation_id;
        self.stay.awaiting.insert(receiver, correlation_id);
        self.send(kind, receiver, correlation_id, fields);
    }

    /// The answer to a request, with what this member knows after it.
    pub fn answer(&mut self, request: &Json, kind: &str, error: &str, fields: Json) -> Result<(), Failure> {
        let common = object! {
            "error": error,
            "epoch": self.epoch,
            "leader_id": self.leader_id,
            "leader_endpoint": self.leader_endpoint.clone(),
        };
        self.send(kind, request.int("source")?, request.int("correlation_id")?, common.with(fields));
        Ok(())
    }

    /// The last start of a timer in a step counts.
    pub fn start_timer(&mut self, timer: &'static str, duration_ms: i64) {
        self.timers.retain(|(started, _)| *started != timer);
        self.timers.push((timer, duration_ms));
    }

    /// The effects of a step: first what has to be on disk, then what is sent, then the timers.
    ///
    /// THE POINT OF IT: nothing leaves before what it depends on is written and synced.
    /// Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
    pub fn finish(&mut self, refusal: Option<&'static str>) -> Step {
        let mut effects = Vec::new();
        let (disk, voted_key) = (&mut self.disk, &self.voted_key);
        if (disk.epoch, disk.leader_id, &disk.voted_key) != (self.epoch, self.leader_id, voted_key) {
            (disk.epoch, disk.leader_id, disk.voted_key) = (self.epoch, self.leader_id, voted_key.clone());
            effects.push(object! {
                "kind": "PersistQuorumState",
                "epoch": self.epoch,
                "leader_id": self.leader_id,
                "voted_key": voted_key.clone(),
                "version": 1,
            });
        }
        let (written, end) = (disk.log.end_offset(), self.log.end_offset());
        if end < written {
            disk.log.truncate(end);
            effects.push(object! {"kind": "TruncateLog", "end_offset": end});
        } else if end > written {
            let appended = self.log.between(written, end);
            disk.log.append(appended);
            let records: Vec<Json> = appended.iter().map(|record| record.json.clone()).collect();
            effects.push(object! {"kind": "AppendRecords", "base_offset": written, "records": records});
        }
        if self.log.flushed > disk.log.flushed {
            disk.log.flushed = self.log.flushed;
            effects.push(object! {"kind": "FlushLog", "end_offset": self.log.flushed});
        }
        effects.append(&mut self.sends);
        let mut timers = std::mem::take(&mut self.timers);
        for (timer, duration_ms) in if self.entered { self.timers_of_role() } else { Vec::new() } {
            if timers.iter().all(|(started, _)| *started != timer) {
                timers.push((timer, duration_ms));
            }
        }
        for (timer, duration_ms) in timers {
            effects.push(object! {"kind": "StartTimer", "timer": timer, "duration_ms": duration_ms});
        }
        Step { effects, refusal }
    }

    /// The timers that a role begins with; one that runs on is not started.
    fn timers_of_role(&self) -> Vec<(&'static str, i64)> {
        let election = ("election", self.draw.election_timeout_ms);
        match self.role {
            Role::Unattached if matches!(self.role_before, Role::Unattached | Role::Resigned) => vec![],
            Role::Unattached | Role::Prospective | Role::Candidate | Role::Resigned => vec![election],
            Role::Follower => vec![("fetch", self.setup.fetch_timeout_ms)],
            Role::Leader if !self.other_voters().is_empty() => vec![
                ("check-quorum", self.setup.check_quorum_period_ms()),
                ("begin-quorum-epoch", self.setup.begin_quorum_epoch_interval_ms()),
            ],
            Role::Leader | Role::Stopped => vec![],
        }
    }
}
