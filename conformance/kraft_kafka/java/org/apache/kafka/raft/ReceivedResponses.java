package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.message.AddRaftVoterResponseData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.RemoveRaftVoterResponseData;
import org.apache.kafka.common.message.UpdateRaftVoterResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;
import org.apache.kafka.server.common.KRaftVersion;

/** The suite's responses as Kafka's. */
final class ReceivedResponses {
    /** Kafka says these of a whole response; all others of the one partition in it. */
    private static final Set<Errors> OF_THE_RESPONSE = Set.of(
            Errors.INCONSISTENT_CLUSTER_ID, Errors.UNSUPPORTED_VERSION, Errors.CLUSTER_AUTHORIZATION_FAILED);
    private static final Map<String, ApiKeys> APIS = Map.of(
            "VoteResponse", ApiKeys.VOTE,
            "BeginQuorumEpochResponse", ApiKeys.BEGIN_QUORUM_EPOCH,
            "EndQuorumEpochResponse", ApiKeys.END_QUORUM_EPOCH,
            "FetchResponse", ApiKeys.FETCH,
            "FetchSnapshotResponse", ApiKeys.FETCH_SNAPSHOT);

    private ReceivedResponses() {}

    /** `fetchOffset` is where the records of a FetchResponse begin. */
    static ApiMessage kafkas(String type, Map<String, Object> message, long fetchOffset, Setup setup) {
        if (type.equals("ApiVersionsResponse")) {
            return apiVersions(message);
        }
        Errors error = Errors.valueOf(Json.text(message, "error"));
        if (OF_THE_RESPONSE.contains(error) && APIS.containsKey(type)) {
            return RaftUtil.errorResponse(APIS.get(type), error);
        }
        int epoch = message.get("epoch") == null ? 0 : integer(message, "epoch");
        int leader = message.get("leader_id") == null ? -1 : integer(message, "leader_id");
        Endpoints endpoints = Names.endpoints(Json.textOrNull(message, "leader_endpoint"));
        return switch (type) {
            case "VoteResponse" -> RaftUtil.singletonVoteResponse(
                    Names.LISTENER, (short) 2, Errors.NONE, Names.PARTITION, error, epoch, leader,
                    Json.flag(message, "granted"), endpoints);
            case "BeginQuorumEpochResponse" -> RaftUtil.singletonBeginQuorumEpochResponse(
                    Names.LISTENER, (short) 1, Errors.NONE, Names.PARTITION, error, epoch, leader, endpoints);
            case "EndQuorumEpochResponse" -> RaftUtil.singletonEndQuorumEpochResponse(
                    Names.LISTENER, (short) 1, Errors.NONE, Names.PARTITION, error, epoch, leader, endpoints);
            case "FetchResponse" -> RaftUtil.singletonFetchResponse(
                    Names.LISTENER, (short) 17, Names.PARTITION, Names.TOPIC, Errors.NONE, leader, endpoints,
                    partition -> {
                        partition.setErrorCode(error.code())
                                .setHighWatermark(Json.integer(message, "high_watermark"))
                                .setRecords(TracedRecords.kafkas(fetchOffset, Json.list(message, "records"), setup));
                        partition.currentLeader().setLeaderId(leader).setLeaderEpoch(epoch);
                        partition.divergingEpoch().setEpoch(integer(message, "diverging_epoch"))
                                .setEndOffset(Json.integer(message, "diverging_end_offset"));
                        partition.snapshotId().setEpoch(integer(message, "snapshot_epoch"))
                                .setEndOffset(Json.integer(message, "snapshot_end_offset"));
                    });
            case "FetchSnapshotResponse" -> RaftUtil.singletonFetchSnapshotResponse(
                    Names.LISTENER, (short) 1, Names.PARTITION, leader, endpoints, partition -> {
                        partition.setErrorCode(error.code());
                        partition.currentLeader().setLeaderId(leader).setLeaderEpoch(epoch);
                        if (message.get("snapshot") != null) {
                            Map<String, Object> snapshot = Json.asObject(message.get("snapshot"));
                            ByteBuffer bytes = TracedSnapshots.bytes(snapshot, setup);
                            partition.snapshotId().setEpoch(integer(snapshot, "epoch"))
                                    .setEndOffset(Json.integer(snapshot, "end_offset"));
                            partition.setSize(bytes.remaining()).setPosition(0)
                                    .setUnalignedRecords(new UnalignedMemoryRecords(bytes));
                        }
                        return partition;
                    });
            case "AddVoterResponse" -> new AddRaftVoterResponseData().setErrorCode(error.code());
            case "RemoveVoterResponse" -> new RemoveRaftVoterResponseData().setErrorCode(error.code());
            case "UpdateVoterResponse" -> updateVoter(error, epoch, leader, endpoints);
            default -> throw new Unsupported("a " + type);
        };
    }

    private static ApiMessage apiVersions(Map<String, Object> message) {
        ApiVersionsResponseData response = new ApiVersionsResponseData();
        response.supportedFeatures().add(new ApiVersionsResponseData.SupportedFeatureKey()
                .setName(KRaftVersion.FEATURE_NAME)
                .setMinVersion((short) integer(message, "min_version"))
                .setMaxVersion((short) integer(message, "max_version")));
        return response;
    }

    private static ApiMessage updateVoter(Errors error, int epoch, int leader, Endpoints endpoints) {
        UpdateRaftVoterResponseData response = new UpdateRaftVoterResponseData().setErrorCode(error.code());
        response.currentLeader().setLeaderId(leader).setLeaderEpoch(epoch);
        endpoints.address(Names.LISTENER).ifPresent(
                address -> response.currentLeader().setHost(address.getHostString()).setPort(address.getPort()));
        return response;
    }

    private static int integer(Map<String, Object> message, String name) {
        return (int) Json.integer(message, name);
    }
}
