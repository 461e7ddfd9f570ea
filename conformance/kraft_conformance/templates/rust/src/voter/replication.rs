//! Fetch, divergence and truncation, appends, the high watermark.

use super::key::Key;
use super::log::{EpochEnd, Record};
use super::member::{Handled, Member, ACTED};
use super::state::Role;
use crate::json::Json;
use crate::object;
use crate::replica::Failure;

const NOT_DIVERGING: EpochEnd = EpochEnd { epoch: -1, offset: -1 };

impl Member {
    // ---- The Leader. -------------------------------------------------------------------------------------

    pub fn after_client_append(&mut self, input: &Json) -> Handled {
        if self.role != Role::Leader {
            return Ok(Some("NOT_IN_ROLE"));
        }
        let record = object! {"epoch": self.epoch, "kind": "Data", "value": input.int("value")?};
        self.append(&[Record::from_json(&record)?]);
        ACTED
    }

    /// Records at the end of the Leader's log, synced before it counts itself.
    pub fn append(&mut self, records: &[Record]) {
        self.log.append(records);
        self.log.flush();
        self.advance_high_watermark();
    }

    /// Only up to records of the own epoch, and never back.  Rules: hw.majority, hw.own-epoch, hw.monotonic.
    fn advance_high_watermark(&mut self) {
        let reached_by = |voter: &Key| match voter {
            own if *own == self.key => self.log.end_offset(),
            other => self.stay.fetch_offsets.get(other).copied().unwrap_or(0),
        };
        let mut reached: Vec<i64> = self.voters().iter().map(reached_by).collect();
        reached.sort_unstable_by(|a, b| b.cmp(a));
        let offset = reached[reached.len() / 2];
        if offset > self.stay.epoch_start && offset > self.high_watermark {
            self.high_watermark = offset;
        }
    }

    /// Only the Leader of exactly this epoch serves.  Rule: fetch.leader-only.
    pub fn after_fetch_request(&mut self, request: &Json) -> Handled {
        let epoch = request.int("epoch")?;
        let (offset, last_epoch) = (request.int("fetch_offset")?, request.int("last_epoch")?);
        let refused = if self.is_foreign(request) {
            Some(("INCONSISTENT_CLUSTER_ID", "FOREIGN_CLUSTER"))
        } else if offset < 0 || last_epoch < 0 {
            Some(("INVALID_REQUEST", "MALFORMED_REQUEST"))
        } else if epoch < self.epoch {
            Some(("FENCED_LEADER_EPOCH", "STALE_EPOCH"))
        } else if epoch > self.epoch {
            Some(("UNKNOWN_LEADER_EPOCH", "UNKNOWN_EPOCH"))
        } else if self.role != Role::Leader {
            Some(("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER"))
        } else {
            None
        };
        if let Some((error, refusal)) = refused {
            self.answer_fetch(request, error, NOT_DIVERGING, Vec::new())?;
            return Ok(Some(refusal));
        }
        let fetcher = Key::from_json(request.get("replica_key"))?;
        self.note_fetcher(&fetcher);
        if !self.log.agrees(offset, last_epoch) {
            self.answer_fetch(request, "NONE", self.log.end_of_epoch(last_epoch), Vec::new())?;
            return ACTED;
        }
        self.stay.fetch_offsets.insert(fetcher, offset);
        self.advance_high_watermark();
        let (most, end) = (self.setup.fetch_max_records, self.log.end_offset());
        let end = self.log.batch_end(if most == 0 { end } else { end.min(offset + most) });
        let records = self.log.between(offset, end).iter().map(|record| record.json.clone()).collect();
        self.answer_fetch(request, "NONE", NOT_DIVERGING, records)?;
        ACTED
    }

    /// A complete majority starts the check-quorum period anew.  Rule: check-quorum.counts-keys.
    fn note_fetcher(&mut self, fetcher: &Key) {
        if !self.other_voters().contains(fetcher) {
            return;
        }
        self.stay.fetchers.insert(fetcher.id);
        if self.is_majority(self.stay.fetchers.len() + usize::from(self.is_voter())) {
            self.stay.fetchers.clear();
            self.start_timer("check-quorum", self.setup.check_quorum_period_ms());
        }
    }

    fn answer_fetch(
        &mut self,
        request: &Json,
        error: &str,
        diverging: EpochEnd,
        records: Vec<Json>,
    ) -> Result<(), Failure> {
        let publishes = error == "NONE" && self.high_watermark > self.stay.epoch_start;
        let fields = object! {
            "high_watermark": if publishes { self.high_watermark } else { -1 },
            "diverging_epoch": diverging.epoch,
            "diverging_end_offset": diverging.offset,
            "records": records,
            "snapshot_end_offset": -1,
            "snapshot_epoch": -1,
        };
        self.answer(request, "FetchResponse", error, fields)
    }

    // ---- Followers, and whoever looks for a leader. ------------------------------------------------------

    /// A Fetch of everything after the own log, which is synced first.  Rule: durable.flush-before-fetch.
    pub fn after_poll_fetch(&mut self, destination: i64) -> Handled {
        let due = match self.role {
            Role::Follower => self.leader_id == Some(destination),
            Role::Unattached => destination != self.key.id && self.setup.bootstrap_servers.contains(&destination),
            _ => false,
        };
        if !due || !self.stay.awaiting.is_empty() {
            return Ok(Some("NOTHING_DUE"));
        }
        self.log.flush();
        let request = object! {
            "epoch": self.epoch,
            "replica_key": self.key.clone(),
            "fetch_offset": self.log.end_offset(),
            "last_epoch": self.log.last_epoch(),
            "cluster_id": self.setup.cluster_id.clone(),
        };
        self.ask("FetchRequest", destination, request);
        ACTED
    }

    /// Epoch and leader first; data only as Follower of that leader in that epoch.  Rule: fetch.response.common.
    pub fn after_fetch_response(&mut self, response: &Json) -> Handled {
        if !self.is_correlated(response)? {
            return Ok(Some("UNCORRELATED_RESPONSE"));
        }
        if let Some(refusal) = self.useless(response)? {
            return Ok(Some(refusal));
        }
        let (epoch_before, failed) = (self.epoch, response.text("error")? != "NONE");
        let learned = self.learn_from(response)?;
        let follows = self.epoch == epoch_before
            && self.role == Role::Follower
            && self.leader_id == Some(response.int("source")?);
        if failed || !follows {
            let refusal = if failed { "ERROR_RESPONSE" } else { "NOT_FOLLOWER_OF_SENDER" };
            return Ok(if learned { None } else { Some(refusal) });
        }
        if response.int("snapshot_end_offset")? >= 0 {
            return Err(Failure::Unsupported("snapshots".into()));
        }
        let diverging_epoch = response.int("diverging_epoch")?;
        if diverging_epoch >= 0 {
            let own = self.log.end_of_epoch(diverging_epoch);
            let their_end = response.int("diverging_end_offset")?;
            let cut = if own.epoch == diverging_epoch { own.offset.min(their_end) } else { own.offset };
            if cut < self.high_watermark {
                return Ok(Some("TRUNCATION_BELOW_HIGH_WATERMARK"));
            }
            self.log.truncate(cut);
        } else {
            for record in response.array("records")? {
                self.log.append(&[Record::from_json(record)?]);
            }
            let published = response.int("high_watermark")?.min(self.log.end_offset());
            self.high_watermark = self.high_watermark.max(published);
        }
        self.stay.fetched = true;
        self.start_timer("fetch", self.setup.fetch_timeout_ms);
        ACTED
    }
}
