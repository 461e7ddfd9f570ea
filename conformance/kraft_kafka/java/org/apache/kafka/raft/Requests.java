package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.message.AddRaftVoterRequestData;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.BeginQuorumEpochRequestData;
import org.apache.kafka.common.message.EndQuorumEpochRequestData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchSnapshotRequestData;
import org.apache.kafka.common.message.RemoveRaftVoterRequestData;
import org.apache.kafka.common.message.UpdateRaftVoterRequestData;
import org.apache.kafka.common.message.VoteRequestData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.server.common.OffsetAndEpoch;

/** Requests, of the suite and of Kafka. */
final class Requests {
    private static final int FETCH_BYTES = 1 << 23;

    private Requests() {}

    // ---- To Kafka. ---------------------------------------------------------------------------------------

    static ApiMessage kafkas(String type, Map<String, Object> message) {
        String cluster = Json.textOrNull(message, "cluster_id");
        return switch (type) {
            case "VoteRequest" -> Elections.voteRequest(message);
            case "BeginQuorumEpochRequest" -> RaftUtil.singletonBeginQuorumEpochRequest(
                    Names.PARTITION, cluster, integer(message, "epoch"), integer(message, "source"),
                    Names.endpoints(Json.textOrNull(message, "leader_endpoint")),
                    Names.keyOrNobody(message, "voter_key"));
            case "EndQuorumEpochRequest" -> RaftUtil.singletonEndQuorumEpochRequest(
                    Names.PARTITION, cluster, integer(message, "epoch"), integer(message, "source"),
                    Json.list(message, "preferred_candidates").stream().map(Names::key).toList());
            case "FetchRequest" -> fetch(message, Names.key(message.get("replica_key"))).setClusterId(cluster);
            case "FetchSnapshotRequest" -> RaftUtil.singletonFetchSnapshotRequest(
                    cluster, Names.key(message.get("replica_key")), Names.PARTITION, integer(message, "epoch"),
                    new OffsetAndEpoch(
                            Json.integer(message, "snapshot_end_offset"), integer(message, "snapshot_epoch")),
                    FETCH_BYTES, 0);
            case "AddVoterRequest" -> addVoter(message);
            case "RemoveVoterRequest" -> RaftUtil.removeVoterRequest(cluster, Names.key(message.get("voter")));
            case "UpdateVoterRequest" -> updateVoter(message, Names.key(message.get("voter"))).setClusterId(cluster);
            default -> throw new Unsupported("a " + type);
        };
    }

    /** Version 0 and Fetch 16 carry no endpoints of the leader, and neither do their answers. */
    static short version(String type, boolean withEndpoints) {
        return (short) switch (type) {
            case "VoteRequest" -> withEndpoints ? Elections.VOTE_VERSION : 0;
            case "FetchRequest" -> withEndpoints ? 17 : 16;
            case "RemoveVoterRequest", "UpdateVoterRequest" -> 0;
            default -> withEndpoints ? 1 : 0;
        };
    }

    private static FetchRequestData fetch(Map<String, Object> message, ReplicaKey replica) {
        return RaftUtil.singletonFetchRequest(Names.PARTITION, Names.TOPIC, partition -> partition
                        .setCurrentLeaderEpoch(integer(message, "epoch"))
                        .setFetchOffset(Json.integer(message, "fetch_offset"))
                        .setLastFetchedEpoch(integer(message, "last_epoch"))
                        .setReplicaDirectoryId(Names.directory(replica)))
                .setMaxBytes(FETCH_BYTES)
                .setReplicaState(new FetchRequestData.ReplicaState().setReplicaId(replica.id()));
    }

    static AddRaftVoterRequestData addVoter(Map<String, Object> fields) {
        ReplicaKey voter = Names.key(fields.get("voter"));
        AddRaftVoterRequestData request = new AddRaftVoterRequestData()
                .setClusterId(Json.textOrNull(fields, "cluster_id"))
                .setTimeoutMs(Timers.NEVER_MS)
                .setVoterId(voter.id())
                .setVoterDirectoryId(Names.directory(voter))
                .setListeners(Names.endpoints(Json.textOrNull(fields, "endpoint")).toAddVoterRequest());
        if (Boolean.FALSE.equals(fields.get("when_committed"))) {
            if (!answersBeforeCommit()) {
                throw new Unsupported("an AddVoter that is answered before its commit");
            }
            Member.ACK_WHEN_COMMITTED.set(request, false);
        }
        return request;
    }

    /** Since 4.2. */
    static boolean answersBeforeCommit() {
        return Member.ACK_WHEN_COMMITTED.isThere();
    }

    private static UpdateRaftVoterRequestData updateVoter(Map<String, Object> message, ReplicaKey voter) {
        UpdateRaftVoterRequestData request = new UpdateRaftVoterRequestData()
                .setCurrentLeaderEpoch(integer(message, "epoch"))
                .setVoterId(voter.id())
                .setVoterDirectoryId(Names.directory(voter))
                .setListeners(Names.endpoints(Json.textOrNull(message, "endpoint")).toUpdateVoterRequest());
        request.kRaftVersionFeature()
                .setMinSupportedVersion((short) integer(message, "min_version"))
                .setMaxSupportedVersion((short) integer(message, "max_version"));
        return request;
    }

    private static int integer(Map<String, Object> message, String name) {
        return (int) Json.integer(message, name);
    }

    // ---- From Kafka. -------------------------------------------------------------------------------------

    static Map<String, Object> shown(ApiMessage request) {
        if (request instanceof VoteRequestData vote) {
            return Elections.shown(vote);
        }
        if (request instanceof BeginQuorumEpochRequestData begin) {
            BeginQuorumEpochRequestData.PartitionData partition = begin.topics().get(0).partitions().get(0);
            return Json.object(
                    "type", "BeginQuorumEpochRequest", "epoch", partition.leaderEpoch(),
                    "voter_key", Names.shown(begin.voterId(), partition.voterDirectoryId()),
                    "leader_endpoint", Names.shown(Endpoints.fromBeginQuorumEpochRequest(begin.leaderEndpoints())),
                    "cluster_id", begin.clusterId());
        }
        if (request instanceof EndQuorumEpochRequestData end) {
            EndQuorumEpochRequestData.PartitionData partition = end.topics().get(0).partitions().get(0);
            List<Object> preferred = new ArrayList<>();
            partition.preferredCandidates().forEach(
                    one -> preferred.add(Names.shown(one.candidateId(), one.candidateDirectoryId())));
            return Json.object(
                    "type", "EndQuorumEpochRequest", "epoch", partition.leaderEpoch(),
                    "preferred_candidates", preferred, "cluster_id", end.clusterId());
        }
        if (request instanceof FetchRequestData fetch) {
            FetchRequestData.FetchPartition partition = fetch.topics().get(0).partitions().get(0);
            return Json.object(
                    "type", "FetchRequest", "epoch", partition.currentLeaderEpoch(),
                    "replica_key", Names.shown(fetch.replicaState().replicaId(), partition.replicaDirectoryId()),
                    "fetch_offset", partition.fetchOffset(), "last_epoch", partition.lastFetchedEpoch(),
                    "cluster_id", fetch.clusterId());
        }
        if (request instanceof FetchSnapshotRequestData fetch) {
            FetchSnapshotRequestData.PartitionSnapshot partition = fetch.topics().get(0).partitions().get(0);
            return Json.object(
                    "type", "FetchSnapshotRequest", "epoch", partition.currentLeaderEpoch(),
                    "replica_key", Names.shown(fetch.replicaId(), partition.replicaDirectoryId()),
                    "snapshot_end_offset", partition.snapshotId().endOffset(),
                    "snapshot_epoch", partition.snapshotId().epoch(), "cluster_id", fetch.clusterId());
        }
        return shownVoterChange(request);
    }

    private static Map<String, Object> shownVoterChange(ApiMessage request) {
        if (request instanceof ApiVersionsRequestData) {
            return Json.object("type", "ApiVersionsRequest");
        }
        if (request instanceof UpdateRaftVoterRequestData update) {
            return Json.object(
                    "type", "UpdateVoterRequest", "epoch", update.currentLeaderEpoch(),
                    "voter", Names.shown(update.voterId(), update.voterDirectoryId()),
                    "endpoint", Names.shown(Endpoints.fromUpdateVoterRequest(update.listeners())),
                    "min_version", (int) update.kRaftVersionFeature().minSupportedVersion(),
                    "max_version", (int) update.kRaftVersionFeature().maxSupportedVersion(),
                    "cluster_id", update.clusterId());
        }
        if (request instanceof AddRaftVoterRequestData add) {
            return Json.object(
                    "type", "AddVoterRequest", "voter", Names.shown(add.voterId(), add.voterDirectoryId()),
                    "endpoint", Names.shown(Endpoints.fromAddVoterRequest(add.listeners())),
                    "timeout_ms", add.timeoutMs(), "when_committed", Member.ACK_WHEN_COMMITTED.get(add),
                    "cluster_id", add.clusterId());
        }
        if (request instanceof RemoveRaftVoterRequestData remove) {
            return Json.object(
                    "type", "RemoveVoterRequest", "voter", Names.shown(remove.voterId(), remove.voterDirectoryId()),
                    "cluster_id", remove.clusterId());
        }
        throw new IllegalStateException("a request " + request.getClass().getSimpleName());
    }
}
