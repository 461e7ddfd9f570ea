//! The announcement of a leader, and the Fetch of a Follower.

use super::{Role, Voter};
use crate::replica::Message;
use serde_json::json;

impl Voter {
    pub fn last_epoch(&self) -> i64 {
        self.log.last().and_then(|record| record["epoch"].as_i64()).unwrap_or(0)
    }

    /// The start of its epoch is in the log.  Rules: state.candidate.to-leader, state.leader.first-leader.
    pub fn become_leader(&mut self) {
        let epoch = self.quorum.epoch;
        self.quorum.leader = Some(self.key.id);
        self.enter(Role::Leader);
        self.log.push(json!({"epoch": epoch, "kind": "LeaderChange", "value": self.key.id}));
        if self.log.len() == 1 {
            // Rule: bootstrap.first-leader-writes-records.
            self.log.push(json!({"epoch": epoch, "kind": "KRaftVersion", "value": 1}));
            self.log.push(json!({"epoch": epoch, "kind": "Voters", "value": 0, "voters": self.cluster.voters}));
        }
        self.flushed = self.log.len();
        if self.is_majority(1) {
            self.high_watermark = Some(self.log.len());
        }
    }

    /// The sender leads: learn it, then answer; the key only decides the answer.
    pub fn on_begin_quorum_epoch_request(&mut self, request: &Message) {
        let mut error = self.refusal(request, false);
        if error == "NONE" {
            self.learn(request.epoch, Some(request.source));
            if self.role == Role::Prospective {
                // The leader that it gave up on is there after all.  Rule: state.prospective.discovers-leader.
                self.enter(Role::Follower);
            }
            if !self.is_named(&request.voter_key) {
                error = "INVALID_REQUEST";
            }
        }
        self.answer(request, "BeginQuorumEpochResponse", error, json!({}));
    }

    pub fn on_begin_quorum_epoch_response(&mut self, response: &Message) {
        if !self.is_over(response) && response.error == "NONE" {
            self.stay.answered.insert(response.source);
        }
    }

    /// Asks for everything after the own log, which is synced first.  Rule: durable.flush-before-fetch.
    pub fn on_poll_fetch(&mut self, destination: i64) {
        let servers = &self.cluster.bootstrap_servers;
        let is_due = match self.role {
            Role::Follower => self.quorum.leader == Some(destination),
            Role::Unattached => destination != self.key.id && (servers.is_empty() || servers.contains(&destination)),
            _ => false,
        };
        if is_due && self.stay.awaiting.is_empty() {
            self.flushed = self.log.len();
            let (offset, last_epoch) = (self.log.len(), self.last_epoch());
            let request = json!({"replica_key": self.key, "fetch_offset": offset, "last_epoch": last_epoch});
            self.ask("FetchRequest", destination, request);
        }
    }

    /// Data is taken only as Follower of that leader in that epoch.  Rule: fetch.response.common.
    pub fn on_fetch_response(&mut self, mut response: Message) {
        let is_over = self.is_over(&response) || response.error != "NONE";
        if is_over || self.role != Role::Follower || self.quorum.leader != Some(response.source) {
            return;
        }
        self.log.append(&mut response.records);
        let published = usize::try_from(response.high_watermark).ok().map(|offset| offset.min(self.log.len()));
        self.high_watermark = self.high_watermark.max(published);
        self.stay.fetched = true;
        self.timers.insert("fetch", self.cluster.timeouts.fetch_timeout_ms);
    }
}
