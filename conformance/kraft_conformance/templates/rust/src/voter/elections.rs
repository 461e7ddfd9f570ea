//! Pre-Vote and Vote, and the timers that start them.

use super::key::Key;
use super::log::Record;
use super::member::{Handled, Member, ACTED};
use super::state::Role;
use crate::json::Json;
use crate::object;
use crate::replica::Failure;

impl Member {
    // ---- Timers. -----------------------------------------------------------------------------------------

    pub fn after_election_timeout(&mut self) -> Handled {
        match self.role {
            Role::Unattached | Role::Candidate => self.nominate()?,
            Role::Prospective => self.lose_pre_vote(),
            Role::Resigned => {
                // What is left of a timer that has fired is nothing.  Rule: state.resigned.timer-handover.
                self.enter(Role::Unattached, self.epoch + 1, None, None, None);
                self.start_timer("election", 0);
            }
            _ => return Ok(Some("NOT_IN_ROLE")),
        }
        ACTED
    }

    pub fn after_fetch_timeout(&mut self) -> Handled {
        if self.role != Role::Follower {
            return Ok(Some("NOT_IN_ROLE"));
        }
        self.nominate()?;
        ACTED
    }

    /// A new Pre-Vote round with the own grant; a sole voter passes on at once.
    fn nominate(&mut self) -> Result<(), Failure> {
        let (leader, vote) = (self.leader_id, self.voted_key.clone());
        self.enter(Role::Prospective, self.epoch, leader, self.leader_endpoint.clone(), vote);
        self.stay.granted.insert(self.key.id);
        if self.is_majority(1) {
            self.become_candidate()?;
        }
        Ok(())
    }

    /// Back to Follower of the known leader, or to Unattached to look for one.
    fn lose_pre_vote(&mut self) {
        let endpoint = self.leader_endpoint.clone().filter(|_| self.leader_id.is_some());
        let role = if endpoint.is_some() { Role::Follower } else { Role::Unattached };
        self.enter(role, self.epoch, self.leader_id, endpoint, self.voted_key.clone());
    }

    /// The next epoch, a vote for itself, and a log that no crash shortens.  Rule: state.candidate.entry.
    fn become_candidate(&mut self) -> Result<(), Failure> {
        self.log.flush();
        self.start_candidacy(self.epoch + 1)
    }

    pub fn start_candidacy(&mut self, epoch: i64) -> Result<(), Failure> {
        self.enter(Role::Candidate, epoch, None, None, Some(self.key.clone()));
        self.stay.granted.insert(self.key.id);
        if self.is_majority(1) {
            self.become_leader()?;
        }
        Ok(())
    }

    /// Leader with the start of its epoch in the log.  Rules: state.candidate.to-leader, state.leader.first-leader.
    fn become_leader(&mut self) -> Result<(), Failure> {
        let endpoint = Some(self.setup.endpoint.clone());
        self.enter(Role::Leader, self.epoch, Some(self.key.id), endpoint, self.voted_key.clone());
        self.stay.epoch_start = self.log.end_offset();
        let mut records = vec![object! {"epoch": self.epoch, "kind": "LeaderChange", "value": self.key.id}];
        if self.log.voters().1.is_none() {
            let voters = object! {"epoch": self.epoch, "kind": "Voters", "value": 0};
            records.push(object! {"epoch": self.epoch, "kind": "KRaftVersion", "value": 1});
            records.push(voters.with(self.setup.formatted.clone()));
        }
        let records: Result<Vec<Record>, Failure> = records.iter().map(Record::from_json).collect();
        self.append(&records?);
        Ok(())
    }

    // ---- Requests. ---------------------------------------------------------------------------------------

    /// Is a Vote or Pre-Vote due to this voter?  Rule: prevote.request.recipients.
    pub fn is_vote_due_to(&self, voter: i64) -> bool {
        self.can_still_win() && !self.stay.granted.contains(&voter) && !self.stay.rejected.contains(&voter)
    }

    pub fn ask_for_vote(&mut self, voter: &Key) {
        let request = object! {
            "epoch": self.epoch,
            "replica_key": self.key.clone(),
            "voter_key": voter.clone(),
            "last_epoch": self.log.last_epoch(),
            "end_offset": self.log.end_offset(),
            "pre_vote": self.role == Role::Prospective,
            "cluster_id": self.setup.cluster_id.clone(),
        };
        self.ask("VoteRequest", voter.id, request);
    }

    fn can_still_win(&self) -> bool {
        self.is_majority(self.voters().len() - self.stay.rejected.len())
    }

    /// The checks in their order.  Rules: prevote.request.check-order, vote.decision-order.
    pub fn after_vote_request(&mut self, request: &Json) -> Handled {
        let (pre_vote, epoch) = (request.flag("pre_vote")?, request.int("epoch")?);
        if self.is_foreign(request) {
            self.answer_vote(request, false, "INCONSISTENT_CLUSTER_ID")?;
            return Ok(Some("FOREIGN_CLUSTER"));
        }
        if is_malformed(request)? {
            self.answer_vote(request, false, "INVALID_REQUEST")?;
            return Ok(Some("MALFORMED_REQUEST"));
        }
        if epoch < self.epoch {
            self.answer_vote(request, false, "FENCED_LEADER_EPOCH")?;
            return Ok(Some("STALE_EPOCH"));
        }
        if epoch > self.epoch {
            self.enter(Role::Unattached, epoch, None, None, None);
        }
        if !self.key.is_addressed_by(request.get("voter_key"))? {
            self.answer_vote(request, false, "INVALID_REQUEST")?;
            return ACTED;
        }
        let requester = Key::from_json(request.get("replica_key"))?;
        let log_is_good = self.log.is_matched_by(request.int("last_epoch")?, request.int("end_offset")?);
        let granted =
            if pre_vote { self.grants_pre_vote(log_is_good) } else { self.grants_vote(&requester, log_is_good) };
        if granted && !pre_vote && self.voted_key.is_none() {
            self.cast_vote(requester);
        }
        self.answer_vote(request, granted, "NONE")?;
        ACTED
    }

    fn answer_vote(&mut self, request: &Json, granted: bool, error: &str) -> Result<(), Failure> {
        let fields = object! {"granted": granted, "pre_vote": request.flag("pre_vote")?};
        self.answer(request, "VoteResponse", error, fields)
    }

    fn grants_pre_vote(&self, log_is_good: bool) -> bool {
        let has_leader = self.role == Role::Leader || (self.role == Role::Follower && self.stay.fetched);
        !has_leader && log_is_good
    }

    fn grants_vote(&self, requester: &Key, log_is_good: bool) -> bool {
        if !matches!(self.role, Role::Unattached | Role::Prospective) {
            return false;
        }
        match &self.voted_key {
            Some(voted) => voted == requester,
            None => self.leader_id.is_none() && log_is_good,
        }
    }

    /// The one vote of the epoch; a Prospective starts its round over.  Rules: vote.once-per-epoch, vote.grant.*.
    fn cast_vote(&mut self, requester: Key) {
        if self.role == Role::Prospective {
            self.enter(Role::Prospective, self.epoch, self.leader_id, self.leader_endpoint.clone(), None);
            self.stay.granted.insert(self.key.id);
        }
        self.voted_key = Some(requester);
        self.start_timer("election", self.draw.election_timeout_ms);
    }

    // ---- Responses. --------------------------------------------------------------------------------------

    /// Correlation, then epoch and leader, then support for Pre-Vote, then the count.
    pub fn after_vote_response(&mut self, response: &Json) -> Handled {
        if !self.is_correlated(response)? {
            return Ok(Some("UNCORRELATED_RESPONSE"));
        }
        if response.text("error")? == "UNSUPPORTED_VERSION" {
            if self.role != Role::Prospective {
                return Ok(Some("NO_PRE_VOTE_ROUND"));
            }
            self.become_candidate()?;
            return ACTED;
        }
        if let Some(refusal) = self.useless(response)? {
            return Ok(Some(refusal));
        }
        if self.learn_from(response)? {
            return ACTED;
        }
        if self.role == Role::Prospective && !response.flag("pre_vote")? {
            self.become_candidate()?;
            return ACTED;
        }
        if response.text("error")? != "NONE" {
            return Ok(Some("ERROR_RESPONSE"));
        }
        if !matches!(self.role, Role::Prospective | Role::Candidate) {
            return Ok(Some("ELECTION_IS_OVER"));
        }
        self.count(response.int("source")?, response.flag("granted")?)?;
        ACTED
    }

    /// Won, lost or still open; each voter counts once.  Rules: prevote.response.majority, vote.response.counting.
    fn count(&mut self, voter: i64, granted: bool) -> Result<(), Failure> {
        let could_win = self.can_still_win();
        let is_voter = self.voters().iter().any(|known| known.id == voter);
        if is_voter && !self.stay.granted.contains(&voter) && !self.stay.rejected.contains(&voter) {
            let answers = if granted { &mut self.stay.granted } else { &mut self.stay.rejected };
            answers.insert(voter);
        }
        let (won, open) = (self.is_majority(self.stay.granted.len()), self.can_still_win());
        match self.role {
            Role::Prospective if won => self.become_candidate()?,
            Role::Candidate if won => self.become_leader()?,
            Role::Prospective if !open => self.lose_pre_vote(),
            // Rule: state.candidate.lost.
            Role::Candidate if !open && could_win => self.start_timer("election", self.draw.election_backoff_ms),
            _ => {}
        }
        Ok(())
    }
}

fn is_malformed(request: &Json) -> Result<bool, Failure> {
    let (epoch, last_epoch) = (request.int("epoch")?, request.int("last_epoch")?);
    let negative = epoch.min(last_epoch).min(request.int("end_offset")?) < 0;
    Ok(negative || last_epoch > epoch || (!request.flag("pre_vote")? && last_epoch == epoch))
}
