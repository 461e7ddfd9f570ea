//! Pre-Vote and Vote, and the timers that start them.

use super::{QuorumState, Role, Voter};
use crate::replica::{Key, Message};
use serde_json::json;

impl Voter {
    pub fn is_majority(&self, number: usize) -> bool {
        2 * number > self.cluster.voters.len()
    }

    fn can_still_win(&self) -> bool {
        self.is_majority(self.cluster.voters.len() - self.stay.rejected)
    }

    /// Is a key that of this voter, as far as it says?
    pub fn is_named(&self, key: &Option<Key>) -> bool {
        key.as_ref().map_or(true, |key| {
            key.id == self.key.id && (key.directory_id.is_none() || key.directory_id == self.key.directory_id)
        })
    }

    /// The error that a request is refused with, in the order of prevote.request.check-order, or NONE.
    pub fn refusal(&self, request: &Message, is_malformed: bool) -> &'static str {
        if request.cluster_id.as_ref().is_some_and(|cluster| *cluster != self.cluster.cluster_id) {
            "INCONSISTENT_CLUSTER_ID"
        } else if is_malformed {
            "INVALID_REQUEST"
        } else if request.epoch < self.quorum.epoch {
            "FENCED_LEADER_EPOCH"
        } else {
            "NONE"
        }
    }

    /// What any message teaches: a larger epoch, or the leader of the own one.  True if there was something.
    /// Rules: state.learn-higher-epoch.*, state.unattached.leader, state.candidate.leader-equal-epoch.
    pub fn learn(&mut self, epoch: i64, leader: Option<i64>) -> bool {
        let is_later = epoch > self.quorum.epoch;
        if is_later {
            self.quorum = QuorumState { epoch, leader: None, voted: None };
        }
        let other = leader.filter(|leader| *leader != self.key.id);
        let is_news = epoch == self.quorum.epoch && self.quorum.leader.is_none() && other.is_some();
        if is_news {
            self.quorum.leader = other;
        }
        if is_later || is_news {
            self.follow_or_search();
        }
        is_later || is_news
    }

    /// A Follower of the known leader, or Unattached, which looks for one.
    pub fn follow_or_search(&mut self) {
        self.enter(if self.quorum.leader.is_some() { Role::Follower } else { Role::Unattached });
    }

    /// Is there nothing more in a response: nobody waits for it, or it taught an epoch or a leader?
    pub fn is_over(&mut self, response: &Message) -> bool {
        if self.stay.awaiting.get(&response.source) != Some(&response.correlation_id) {
            return true;
        }
        self.stay.awaiting.remove(&response.source);
        response.error == "INCONSISTENT_CLUSTER_ID"
            || response.epoch < self.quorum.epoch
            || self.learn(response.epoch, response.leader_id)
    }

    pub fn on_election_timeout(&mut self) {
        match self.role {
            Role::Unattached | Role::Candidate => self.nominate(),
            Role::Prospective => self.follow_or_search(),
            Role::Resigned => {
                // What is left of a timer that has fired is nothing.  Rule: state.resigned.timer-handover.
                self.learn(self.quorum.epoch + 1, None);
                self.timers.insert("election", 0);
            }
            _ => {}
        }
    }

    /// A new Pre-Vote round with the own grant; a sole voter passes on at once.
    pub fn nominate(&mut self) {
        self.enter(Role::Prospective);
        self.count(self.key.id, true);
    }

    /// The next epoch, a vote for itself, and a log that no crash shortens.  Rule: state.candidate.entry.
    fn become_candidate(&mut self) {
        self.flushed = self.log.len();
        self.quorum = QuorumState { epoch: self.quorum.epoch + 1, leader: None, voted: Some(self.key.clone()) };
        self.enter(Role::Candidate);
        self.count(self.key.id, true);
    }

    /// Won, lost or still open; each voter counts once.  Rules: prevote.response.majority, vote.response.counting.
    pub fn count(&mut self, voter: i64, grants: bool) {
        if !self.stay.answered.insert(voter) {
            return;
        }
        let could_win = self.can_still_win();
        *(if grants { &mut self.stay.granted } else { &mut self.stay.rejected }) += 1;
        let is_pre_vote = self.role == Role::Prospective;
        match (self.is_majority(self.stay.granted), self.can_still_win()) {
            (true, _) if is_pre_vote => self.become_candidate(),
            (true, _) => self.become_leader(),
            (_, false) if is_pre_vote => self.follow_or_search(),
            // Rule: state.candidate.lost.
            (_, false) if could_win => drop(self.timers.insert("election", self.draw.election_backoff_ms)),
            _ => {}
        }
    }

    /// One request on each idle connection to a voter that has not answered yet.
    pub fn on_poll(&mut self) {
        for voter in self.cluster.voters.clone() {
            if voter == self.key || self.stay.awaiting.contains_key(&voter.id) || self.stay.answered.contains(&voter.id)
            {
                continue;
            }
            match self.role {
                Role::Leader => {
                    let request = json!({"voter_key": voter, "leader_endpoint": self.leader_endpoint()});
                    self.ask("BeginQuorumEpochRequest", voter.id, request);
                }
                Role::Prospective | Role::Candidate if self.can_still_win() => {
                    let (last_epoch, end_offset) = (self.last_epoch(), self.log.len());
                    let request = json!({"replica_key": self.key, "voter_key": voter, "last_epoch": last_epoch,
                        "end_offset": end_offset, "pre_vote": self.role == Role::Prospective});
                    self.ask("VoteRequest", voter.id, request);
                }
                _ => {}
            }
        }
    }

    pub fn on_vote_request(&mut self, request: &Message) {
        let (epoch, last_epoch, pre_vote) = (request.epoch, request.last_epoch, request.pre_vote);
        let is_negative = epoch < 0 || last_epoch < 0 || request.end_offset < 0;
        let is_malformed = is_negative || last_epoch > epoch || (!pre_vote && last_epoch == epoch);
        let (mut error, mut granted) = (self.refusal(request, is_malformed), false);
        if error == "NONE" {
            self.learn(epoch, None);
            if self.is_named(&request.voter_key) {
                granted = self.grants(request);
            } else {
                error = "INVALID_REQUEST";
            }
        }
        self.answer(request, "VoteResponse", error, json!({"granted": granted, "pre_vote": pre_vote}));
    }

    /// The one vote of the epoch is cast, if that is asked for.
    /// Rules: vote.decision-order, vote.once-per-epoch, vote.grant.*.
    fn grants(&mut self, request: &Message) -> bool {
        let is_good = (request.last_epoch, request.end_offset) >= (self.last_epoch(), self.log.len() as i64);
        if request.pre_vote {
            return is_good && self.role != Role::Leader && !self.stay.fetched;
        }
        if !matches!(self.role, Role::Unattached | Role::Prospective) {
            return false;
        }
        if self.quorum.voted.is_some() {
            return self.quorum.voted == request.replica_key;
        }
        if !is_good || self.quorum.leader.is_some() {
            return false;
        }
        if self.role == Role::Prospective {
            self.nominate(); // it starts its round over
        }
        self.quorum.voted = request.replica_key.clone();
        self.timers.insert("election", self.draw.election_timeout_ms);
        true
    }

    /// Counts; who knows no Pre-Vote answers as if asked for a vote, or not at all.
    pub fn on_vote_response(&mut self, mut response: Message) {
        let is_old = response.error == "UNSUPPORTED_VERSION";
        if is_old {
            response.epoch = self.quorum.epoch;
        }
        if self.is_over(&response) {
            return;
        }
        match self.role {
            Role::Prospective if is_old || !response.pre_vote => self.become_candidate(),
            Role::Prospective | Role::Candidate if response.error == "NONE" => {
                self.count(response.source, response.granted)
            }
            _ => {}
        }
    }
}
