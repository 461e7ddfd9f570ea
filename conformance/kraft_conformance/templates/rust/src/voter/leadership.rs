//! The announcement of a leader, check quorum, and the hand-over.

use super::key::Key;
use super::member::{Handled, Member, ACTED};
use super::state::Role;
use crate::json::Json;
use crate::object;
use crate::replica::Failure;

impl Member {
    fn leads_others(&self) -> bool {
        self.role == Role::Leader && !self.other_voters().is_empty()
    }

    /// No majority fetched within the period: the Leader gives up.  Rule: check-quorum.resign.
    pub fn after_check_quorum_timeout(&mut self) -> Handled {
        self.resign_if(self.leads_others())
    }

    pub fn after_shutdown(&mut self) -> Handled {
        self.resign_if(self.role == Role::Leader)
    }

    fn resign_if(&mut self, leads: bool) -> Handled {
        if !leads {
            return Ok(Some("NOT_IN_ROLE"));
        }
        let mut preferred = self.other_voters();
        preferred.sort_by_key(|voter| (-self.stay.fetch_offsets.get(voter).copied().unwrap_or(0), voter.id));
        let (leader, vote) = (self.leader_id, self.voted_key.clone());
        self.enter(Role::Resigned, self.epoch, leader, self.leader_endpoint.clone(), vote);
        self.stay.preferred_candidates = preferred;
        ACTED
    }

    /// The announcement is due again at every voter that does not fetch.  Rule: begin-quorum.resend.
    pub fn after_begin_quorum_epoch_timeout(&mut self) -> Handled {
        if !self.leads_others() {
            return Ok(Some("NOT_IN_ROLE"));
        }
        self.stay.acknowledged.clear();
        self.start_timer("begin-quorum-epoch", self.setup.begin_quorum_epoch_interval_ms());
        ACTED
    }

    /// Is a BeginQuorumEpoch or EndQuorumEpoch due to this voter?
    pub fn is_announcement_due_to(&self, voter: i64) -> bool {
        !self.stay.acknowledged.contains(&voter) && !self.stay.fetchers.contains(&voter)
    }

    pub fn announce(&mut self, voter: &Key) {
        let request = object! {
            "epoch": self.epoch,
            "voter_key": voter.clone(),
            "leader_endpoint": self.leader_endpoint.clone(),
            "cluster_id": self.setup.cluster_id.clone(),
        };
        self.ask("BeginQuorumEpochRequest", voter.id, request);
    }

    pub fn hand_over(&mut self, voter: &Key) {
        let request = object! {
            "epoch": self.epoch,
            "preferred_candidates": self.stay.preferred_candidates.clone(),
            "cluster_id": self.setup.cluster_id.clone(),
        };
        self.ask("EndQuorumEpochRequest", voter.id, request);
    }

    /// The sender leads the epoch: learn it, then answer; the addressed key only decides the answer.
    pub fn after_begin_quorum_epoch_request(&mut self, request: &Json) -> Handled {
        if let Some(refusal) = self.refused(request, "BeginQuorumEpochResponse")? {
            return Ok(Some(refusal));
        }
        let (epoch, leader) = (request.int("epoch")?, request.int("source")?);
        let endpoint = request.get("leader_endpoint").as_text().map(str::to_string);
        if epoch == self.epoch && self.leader_id == Some(leader) && self.role == Role::Prospective {
            // The leader that it gave up on is there after all.  Rule: state.prospective.discovers-leader.
            self.follow(epoch, leader, endpoint.or(self.leader_endpoint.clone()));
        } else {
            self.learn(epoch, Some(leader), endpoint);
        }
        let addressed = self.key.is_addressed_by(request.get("voter_key"))?;
        let error = if addressed { "NONE" } else { "INVALID_REQUEST" };
        self.answer(request, "BeginQuorumEpochResponse", error, object! {})?;
        ACTED
    }

    /// The leader of the epoch is gone: a Follower of it hurries, and refuses no Pre-Vote any more.
    pub fn after_end_quorum_epoch_request(&mut self, request: &Json) -> Handled {
        if let Some(refusal) = self.refused(request, "EndQuorumEpochResponse")? {
            return Ok(Some(refusal));
        }
        self.learn(request.int("epoch")?, Some(request.int("source")?), None);
        if self.role == Role::Follower {
            self.stay.fetched = false;
            self.start_timer("fetch", self.hand_over_delay_ms(request.array("preferred_candidates")?)?);
        }
        self.answer(request, "EndQuorumEpochResponse", "NONE", object! {})?;
        ACTED
    }

    /// None for the first of the preferred candidates, then doubling.  Rule: end-quorum.handle.
    fn hand_over_delay_ms(&self, candidates: &[Json]) -> Result<i64, Failure> {
        let longest_ms = self.setup.election_backoff_max_ms;
        for (place, candidate) in candidates.iter().enumerate() {
            if self.key.is_addressed_by(candidate)? {
                let doubled = (longest_ms / 8).saturating_mul(1 << place.saturating_sub(1).min(30));
                return Ok(if place == 0 { 0 } else { doubled.min(longest_ms) });
            }
        }
        Ok(longest_ms)
    }

    /// What both requests of a leader are refused for.
    fn refused(&mut self, request: &Json, response: &str) -> Handled {
        let epoch = request.int("epoch")?;
        let (error, refusal) = if self.is_foreign(request) {
            ("INCONSISTENT_CLUSTER_ID", "FOREIGN_CLUSTER")
        } else if epoch < self.epoch {
            ("FENCED_LEADER_EPOCH", "STALE_EPOCH")
        } else if self.names_second_leader(epoch, Some(request.int("source")?)) {
            ("INVALID_REQUEST", "SECOND_LEADER_IN_EPOCH")
        } else {
            return ACTED;
        };
        self.answer(request, response, error, object! {})?;
        Ok(Some(refusal))
    }

    /// The answer to BeginQuorumEpoch at a Leader, to EndQuorumEpoch at a Resigned replica.
    pub fn after_announcement_response(&mut self, response: &Json) -> Handled {
        if !self.is_correlated(response)? {
            return Ok(Some("UNCORRELATED_RESPONSE"));
        }
        if let Some(refusal) = self.useless(response)? {
            return Ok(Some(refusal));
        }
        if self.learn_from(response)? {
            return ACTED;
        }
        if response.text("error")? != "NONE" {
            return Ok(Some("ERROR_RESPONSE"));
        }
        self.stay.acknowledged.insert(response.int("source")?);
        ACTED
    }
}
