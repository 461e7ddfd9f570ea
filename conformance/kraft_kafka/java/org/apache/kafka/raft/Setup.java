package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.feature.SupportedVersionRange;

/** What the operators set up: the part of `cluster` in a reset that Kafka is given. */
record Setup(int id, Map<String, Object> cluster, Map<Integer, Map<String, Object>> replicas) {

    static Setup of(int id, Map<String, Object> cluster) {
        Map<Integer, Map<String, Object>> replicas = new TreeMap<>();
        for (Object one : Json.list(cluster, "replicas")) {
            Map<String, Object> replica = Json.asObject(one);
            replicas.put((int) Json.integer(replica, "id"), replica);
        }
        Setup setup = new Setup(id, cluster, replicas);
        String preVote = (String) setup.own().getOrDefault("pre_vote", "supported");
        if (!Elections.canPlay(preVote) || !setup.sendsEndpoints(id)) {
            throw new Unsupported("software with Pre-Vote " + preVote + " or without endpoints");
        }
        if (setup.own().get("directory_id") == null) {
            throw new Unsupported("a replica without a directory id");
        }
        return setup;
    }

    Map<String, Object> own() {
        return replicas.get(id);
    }

    String clusterId() {
        return Json.text(cluster, "cluster_id");
    }

    long fetchMaxRecords() {
        return (Long) cluster.getOrDefault("fetch_max_records", 0L);
    }

    boolean autoJoins() {
        return Boolean.TRUE.equals(own().get("auto_join"));
    }

    boolean isDynamic() {
        return Json.integer(cluster, "kraft_version") > 0;
    }

    String endpointOf(int replica) {
        return Json.text(replicas.get(replica), "endpoint");
    }

    /** Whether the messages of a replica carry the endpoint of the leader; older software's do not. */
    boolean sendsEndpoints(int replica) {
        return !replicas.containsKey(replica)
                || !Boolean.FALSE.equals(replicas.get(replica).getOrDefault("endpoints", true));
    }

    /** Who listens there when the cluster starts. */
    int replicaAt(String endpoint) {
        for (int replica : replicas.keySet()) {
            if (endpointOf(replica).equals(endpoint)) {
                return replica;
            }
        }
        throw new IllegalStateException("nobody listens at " + endpoint);
    }

    SupportedVersionRange supportedVersions(int replica) {
        Map<String, Object> one = replicas.get(replica);
        long least = (Long) one.getOrDefault("min_version", 0L);
        long most = (Long) one.getOrDefault("max_version", 1L);
        return new SupportedVersionRange((short) least, (short) most);
    }

    /** What the replica was formatted with; nobody for a replica that shall join. */
    VoterSet formattedVoters() {
        return TracedRecords.voters(
                own().get("initial_voters") == null ? Json.list(cluster, "voters") : Json.list(own(), "initial_voters"),
                null,
                this);
    }

    /** The configuration controller.quorum.voters, which only a cluster without dynamic voters has. */
    Map<Integer, InetSocketAddress> staticVoters() {
        Map<Integer, InetSocketAddress> voters = new LinkedHashMap<>();
        if (!isDynamic()) {
            voterIds().forEach(voter -> voters.put(voter, Names.address(endpointOf(voter))));
        }
        return voters;
    }

    List<InetSocketAddress> bootstrapServers() {
        List<Integer> servers = ids((List<?>) cluster.getOrDefault("bootstrap_servers", List.of()));
        return (servers.isEmpty() ? voterIds() : servers)
                .stream().map(server -> Names.address(endpointOf(server))).toList();
    }

    private List<Integer> voterIds() {
        return ids(Json.list(cluster, "voters").stream().map(one -> Json.asObject(one).get("id")).toList());
    }

    private static List<Integer> ids(List<?> numbers) {
        List<Integer> ids = new ArrayList<>();
        numbers.forEach(number -> ids.add(((Long) number).intValue()));
        return ids;
    }
}
