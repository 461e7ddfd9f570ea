//! The metadata log: records as they come, each with the epoch of the leader that wrote it, from offset 0 on.

use super::key::Key;
use crate::json::Json;
use crate::replica::Failure;

/// What a voters set says of one voter.
#[derive(Clone)]
pub struct VoterEntry {
    pub key: Key,
    pub endpoint: Option<String>,
}

/// The voters of a record of the kind Voters, or of what a replica was formatted with.
pub fn voter_entries(json: &Json) -> Result<Vec<VoterEntry>, Failure> {
    let details = json.array("details")?;
    let entry = |voter: &Json| -> Result<VoterEntry, Failure> {
        let key = Key::from_json(voter)?;
        let known = details.iter().find(|one| one.get("id").as_int() == Some(key.id));
        let endpoint = known.and_then(|one| one.get("endpoint").as_text()).map(str::to_string);
        Ok(VoterEntry { key, endpoint })
    };
    json.array("voters")?.iter().map(entry).collect()
}

#[derive(Clone)]
pub struct Record {
    pub epoch: i64,
    pub kind: String,
    /// Of a record of the kind Voters.
    pub voters: Vec<VoterEntry>,
    pub json: Json,
}

impl Record {
    pub fn from_json(json: &Json) -> Result<Record, Failure> {
        let kind = json.text("kind")?.to_string();
        let voters = if kind == "Voters" { voter_entries(json)? } else { Vec::new() };
        Ok(Record { epoch: json.int("epoch")?, kind, voters, json: json.clone() })
    }
}

/// An epoch of a log, and the offset after its last record.
pub struct EpochEnd {
    pub epoch: i64,
    pub offset: i64,
}

#[derive(Clone, Default)]
pub struct Log {
    records: Vec<Record>,
    /// The records before this offset survive a crash.
    pub flushed: i64,
}

impl Log {
    pub fn end_offset(&self) -> i64 {
        self.records.len() as i64
    }

    pub fn last_epoch(&self) -> i64 {
        self.epoch_before(self.end_offset())
    }

    /// The epoch of the record before an offset; 0 at the very beginning.
    fn epoch_before(&self, offset: i64) -> i64 {
        if offset == 0 {
            0
        } else {
            self.records[offset as usize - 1].epoch
        }
    }

    pub fn between(&self, start: i64, end: i64) -> &[Record] {
        &self.records[start as usize..end as usize]
    }

    pub fn append(&mut self, appended: &[Record]) {
        self.records.extend_from_slice(appended);
    }

    pub fn truncate(&mut self, end: i64) {
        self.records.truncate(end as usize);
        self.flushed = self.flushed.min(end);
    }

    pub fn flush(&mut self) {
        self.flushed = self.end_offset();
    }

    /// Is a requester's log at least as good as this one?  Rules: vote.log-check, prevote.request.log-check.
    pub fn is_matched_by(&self, last_epoch: i64, end_offset: i64) -> bool {
        (last_epoch, end_offset) >= (self.last_epoch(), self.end_offset())
    }

    /// Does a log that ends at `offset` with `last_epoch` agree with this one up to there?
    pub fn agrees(&self, offset: i64, last_epoch: i64) -> bool {
        offset <= self.end_offset() && (offset == 0 || self.epoch_before(offset) == last_epoch)
    }

    /// The largest epoch here that is not larger than `epoch`, and where it ends.  Rule: fetch.diverging.truncate.
    pub fn end_of_epoch(&self, epoch: i64) -> EpochEnd {
        let mut end = self.end_offset();
        while end > 0 && self.epoch_before(end) > epoch {
            end -= 1;
        }
        EpochEnd { epoch: self.epoch_before(end), offset: end }
    }

    /// The smallest end from `end` on that leaves the control records of one batch together.
    pub fn batch_end(&self, end: i64) -> i64 {
        let rest = &self.records[end as usize..];
        end + rest.iter().take_while(|record| matches!(record.kind.as_str(), "KRaftVersion" | "Voters")).count() as i64
    }

    /// The newest voters set, committed or not, and its offset; -1 if there is none.  Rules: state.voters-set.*.
    pub fn voters(&self) -> (i64, Option<&Record>) {
        match self.records.iter().rposition(|record| record.kind == "Voters") {
            Some(place) => (place as i64, Some(&self.records[place])),
            None => (-1, None),
        }
    }
}
