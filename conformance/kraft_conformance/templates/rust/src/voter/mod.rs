//! A minimal voter: elections, announcements and replication of a quorum whose voters never change.
//!
//! It is here so that the adapter can be seen working.  Delete this folder when your own replica is in its place.

mod elections;
mod key;
mod leadership;
mod log;
mod member;
mod replication;
mod setup;
mod state;

use crate::json::Json;
use crate::object;
use crate::replica::{Draw, Failure, Replica, Step};
use member::{Handled, Member};
use setup::Setup;
use state::{Disk, Role};

#[derive(Default)]
pub struct Voter {
    /// None before the first reset.
    member: Option<Member>,
}

const UNSUPPORTED: [&str; 9] = [
    "observers",
    "crash-in-step",
    "snapshots",
    "disk-replacement",
    "voter-changes",
    "append-voters",
    "auto-join",
    "kraft-version-upgrade",
    "quorum-reassignment",
];

impl Replica for Voter {
    fn hello(&self) -> Json {
        object! {
            "implementation": object! {"name": "minimal-voter-rust", "version": "1"},
            "kip_levels": object! {"KIP-595": "partial", "KIP-996": "full", "KIP-853": "partial"},
            "kraft_versions": vec![1_i64],
            "profile": "kip",
            "observability": "state",
            "unsupported": UNSUPPORTED.to_vec(),
        }
    }

    fn reset(&mut self, id: i64, cluster: &Json) -> Result<(), Failure> {
        self.member = Some(Member::new(Setup::from_json(id, cluster)?, Disk::default()));
        self.restart(None, Draw::default())?;
        Ok(())
    }

    fn step(&mut self, event: &str, message: &Json, input: &Json, draw: Draw) -> Result<Step, Failure> {
        let me = self.member.as_mut().ok_or_else(no_reset)?;
        me.begin(draw);
        let refusal = if me.role == Role::Stopped { Some("NOT_RUNNING") } else { me.handle(event, message, input)? };
        Ok(me.finish(refusal))
    }

    fn crash(&mut self, log_end_offset: i64) -> Result<(), Failure> {
        let stopped = self.member.take().ok_or_else(no_reset)?;
        let mut disk = stopped.disk;
        disk.log.truncate(log_end_offset);
        disk.log.flush();
        self.member = Some(Member::new(stopped.setup, disk));
        Ok(())
    }

    /// The role in which a process starts from its disk.  Rules: durable.restart.*.
    fn restart(&mut self, endpoint: Option<&str>, draw: Draw) -> Result<Step, Failure> {
        if endpoint.is_some() {
            return Err(Failure::Unsupported("another endpoint after a restart: it needs UpdateVoter".into()));
        }
        let me = self.member.as_mut().ok_or_else(no_reset)?;
        me.begin(draw);
        if me.role != Role::Stopped {
            return Ok(me.finish(Some("RUNNING")));
        }
        match me.leader_id {
            // The file was lost, and with it perhaps a vote.
            _ if me.log.last_epoch() > me.epoch => {
                me.enter(Role::Unattached, me.log.last_epoch(), None, None, Some(me.key.clone()));
            }
            Some(leader) if leader == me.key.id => {
                let endpoint = Some(me.setup.endpoint.clone());
                me.enter(Role::Resigned, me.epoch, Some(leader), endpoint, me.voted_key.clone());
            }
            Some(leader) => me.follow(me.epoch, leader, None),
            None if me.voted_key.as_ref() == Some(&me.key) => me.start_candidacy(me.epoch)?,
            None => me.enter(Role::Unattached, me.epoch, None, None, me.voted_key.clone()),
        }
        Ok(me.finish(None))
    }

    fn observe(&self) -> Result<Json, Failure> {
        let me = self.member.as_ref().ok_or_else(no_reset)?;
        let (offset, record) = me.log.voters();
        let voters = record.map_or(&me.setup.formatted, |record| &record.json).get("voters").clone();
        let ids = |ids: &std::collections::BTreeSet<i64>| ids.iter().copied().collect::<Vec<i64>>();
        let awaiting = me.stay.awaiting.iter().map(|(to, correlation_id)| vec![*to, *correlation_id]);
        let offsets = me.stay.fetch_offsets.iter().map(|(key, offset)| vec![key.clone().into(), Json::Int(*offset)]);
        Ok(object! {
            "replica_key": me.key.clone(),
            "role": format!("{:?}", me.role),
            "epoch": me.epoch,
            "leader_id": me.leader_id,
            "leader_endpoint": me.leader_endpoint.clone(),
            "voted_key": me.voted_key.clone(),
            "log_end_offset": me.log.end_offset(),
            "last_epoch": me.log.last_epoch(),
            "flushed_offset": me.log.flushed,
            "high_watermark": me.high_watermark,
            "voters": object! {"offset": offset, "voters": voters, "target": Json::Null},
            "kraft_version": 1,
            "granted": ids(&me.stay.granted),
            "rejected": ids(&me.stay.rejected),
            "fetched": me.stay.fetched,
            "awaiting": awaiting.collect::<Vec<_>>(),
            "acknowledged": ids(&me.stay.acknowledged),
            "fetchers": ids(&me.stay.fetchers),
            "fetch_offsets": offsets.collect::<Vec<_>>(),
            "quorum_state_version": 1,
        })
    }
}

fn no_reset() -> Failure {
    Failure::Failed("there was no reset yet".into())
}

impl Member {
    /// Carry out an event; gives the reason if it changes nothing.
    fn handle(&mut self, event: &str, message: &Json, input: &Json) -> Handled {
        match event {
            "ElectionTimeout" => self.after_election_timeout(),
            "FetchTimeout" => self.after_fetch_timeout(),
            "CheckQuorumTimeout" => self.after_check_quorum_timeout(),
            "BeginQuorumEpochTimeout" => self.after_begin_quorum_epoch_timeout(),
            "RequestTimeout" => {
                let waited = self.stay.awaiting.remove(&input.int("destination")?).is_some();
                Ok(if waited { None } else { Some("NOTHING_DUE") })
            }
            "Poll" => self.after_poll(),
            "PollFetch" => self.after_poll_fetch(input.int("destination")?),
            "ClientAppend" => self.after_client_append(input),
            "Shutdown" => self.after_shutdown(),
            "HandleVoteRequest" => self.after_vote_request(message),
            "HandleVoteResponse" => self.after_vote_response(message),
            "HandleBeginQuorumEpochRequest" => self.after_begin_quorum_epoch_request(message),
            "HandleEndQuorumEpochRequest" => self.after_end_quorum_epoch_request(message),
            "HandleBeginQuorumEpochResponse" | "HandleEndQuorumEpochResponse" => {
                self.after_announcement_response(message)
            }
            "HandleFetchRequest" => self.after_fetch_request(message),
            "HandleFetchResponse" => self.after_fetch_response(message),
            other => Err(Failure::Unsupported(format!("the event {other}"))),
        }
    }

    /// One request on each idle connection to a voter that something is due to.
    fn after_poll(&mut self) -> Handled {
        let mut refusal = Some("NOTHING_DUE");
        for voter in self.other_voters() {
            let due = match self.role {
                Role::Prospective | Role::Candidate => self.is_vote_due_to(voter.id),
                Role::Leader | Role::Resigned => self.is_announcement_due_to(voter.id),
                _ => false,
            };
            if !due || self.stay.awaiting.contains_key(&voter.id) {
                continue;
            }
            match self.role {
                Role::Leader => self.announce(&voter),
                Role::Resigned => self.hand_over(&voter),
                _ => self.ask_for_vote(&voter),
            }
            refusal = None;
        }
        Ok(refusal)
    }
}
