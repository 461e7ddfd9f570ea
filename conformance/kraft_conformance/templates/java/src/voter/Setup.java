package voter;

import adapter.Json;
import adapter.Replica.Unsupported;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the operators set up before the replica starts: the part of `cluster` in a reset that it needs. */
record Setup(
        Key key,
        String endpoint,
        String clusterId,
        Map<String, Object> formattedVoters,
        List<Long> bootstrapServers,
        long fetchMaxRecords,
        long fetchTimeoutMs,
        long electionBackoffMaxMs) {

    static Setup of(long id, Map<String, Object> cluster) {
        if (!"kip".equals(Json.text(cluster, "profile"))) {
            throw new Unsupported("the profile " + cluster.get("profile"));
        }
        Map<String, Object> own = null;
        List<Object> details = new ArrayList<>();
        for (Object one : Json.list(cluster, "replicas")) {
            Map<String, Object> replica = Json.asObject(one);
            if (Json.integer(replica, "id") == id) {
                own = replica;
            }
        }
        if (own == null) {
            throw new IllegalArgumentException("the cluster has no replica " + id);
        }
        // Older software behaves otherwise, and we are not it.
        if (!"supported".equals(Json.text(own, "pre_vote")) || !Json.flag(own, "endpoints")) {
            throw new Unsupported("software without Pre-Vote or without endpoints");
        }
        List<Object> voters = Json.list(own.containsKey("initial_voters") ? own : cluster,
                own.containsKey("initial_voters") ? "initial_voters" : "voters");
        List<Long> ids = voters.stream().map(voter -> Key.of(voter).id()).toList();
        for (Object one : Json.list(cluster, "replicas")) {
            Map<String, Object> replica = Json.asObject(one);
            if (ids.contains(Json.integer(replica, "id"))) {
                details.add(Json.object(
                        "id", replica.get("id"), "endpoint", replica.get("endpoint"),
                        "min_version", replica.getOrDefault("min_version", 0L),
                        "max_version", replica.getOrDefault("max_version", 1L)));
            }
        }
        List<Long> servers = Json.list(cluster, "bootstrap_servers").stream().map(server -> (Long) server).toList();
        Map<String, Object> timeouts = Json.asObject(cluster.get("timeouts"));
        return new Setup(
                Key.of(own),
                Json.text(own, "endpoint"),
                Json.text(cluster, "cluster_id"),
                Json.object("voters", voters, "details", details),
                servers.isEmpty() ? ids : servers,
                Json.integer(cluster, "fetch_max_records"),
                Json.integer(timeouts, "fetch_timeout_ms"),
                Json.integer(timeouts, "election_backoff_max_ms"));
    }

    long checkQuorumPeriodMs() {
        return fetchTimeoutMs * 3 / 2;
    }

    long beginQuorumEpochIntervalMs() {
        return fetchTimeoutMs / 2;
    }
}
