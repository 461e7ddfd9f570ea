//! What the operators set up before the replica starts: the part of `cluster` in a reset that it needs.

use super::key::Key;
use super::log::{voter_entries, VoterEntry};
use crate::json::Json;
use crate::object;
use crate::replica::Failure;

#[derive(Clone)]
pub struct Setup {
    pub key: Key,
    pub endpoint: String,
    pub cluster_id: String,
    /// With `voters` and `details`, as a record of the kind Voters has them.
    pub formatted: Json,
    pub formatted_voters: Vec<VoterEntry>,
    pub bootstrap_servers: Vec<i64>,
    pub fetch_max_records: i64,
    pub fetch_timeout_ms: i64,
    pub election_backoff_max_ms: i64,
}

impl Setup {
    pub fn from_json(id: i64, cluster: &Json) -> Result<Setup, Failure> {
        if cluster.text("profile")? != "kip" {
            return Err(Failure::Unsupported(format!("the profile {}", cluster.get("profile"))));
        }
        let replicas = cluster.array("replicas")?;
        let own = replicas.iter().find(|replica| replica.get("id").as_int() == Some(id));
        let own = own.ok_or_else(|| Failure::Failed(format!("the cluster has no replica {id}")))?;
        // Older software behaves otherwise, and we are not it.
        if own.text("pre_vote")? != "supported" || !own.flag("endpoints")? {
            return Err(Failure::Unsupported("software without Pre-Vote or without endpoints".into()));
        }
        let has_own_list = own.get("initial_voters") != &Json::Null;
        let voters = if has_own_list { own.array("initial_voters")? } else { cluster.array("voters")? };
        let ids: Vec<i64> = voters.iter().filter_map(|voter| voter.get("id").as_int()).collect();
        let mut details = Vec::new();
        for replica in replicas {
            if ids.contains(&replica.int("id")?) {
                details.push(object! {
                    "id": replica.int("id")?,
                    "endpoint": replica.text("endpoint")?,
                    "min_version": replica.get("min_version").as_int().unwrap_or(0),
                    "max_version": replica.get("max_version").as_int().unwrap_or(1),
                });
            }
        }
        let formatted = object! {"voters": voters.to_vec(), "details": details};
        let servers: Vec<i64> = cluster.array("bootstrap_servers")?.iter().filter_map(Json::as_int).collect();
        let timeouts = cluster.get("timeouts");
        Ok(Setup {
            key: Key::from_json(own)?,
            endpoint: own.text("endpoint")?.to_string(),
            cluster_id: cluster.text("cluster_id")?.to_string(),
            formatted_voters: voter_entries(&formatted)?,
            formatted,
            bootstrap_servers: if servers.is_empty() { ids } else { servers },
            fetch_max_records: cluster.int("fetch_max_records")?,
            fetch_timeout_ms: timeouts.int("fetch_timeout_ms")?,
            election_backoff_max_ms: timeouts.int("election_backoff_max_ms")?,
        })
    }

    pub fn check_quorum_period_ms(&self) -> i64 {
        self.fetch_timeout_ms * 3 / 2
    }

    pub fn begin_quorum_epoch_interval_ms(&self) -> i64 {
        self.fetch_timeout_ms / 2
    }
}
