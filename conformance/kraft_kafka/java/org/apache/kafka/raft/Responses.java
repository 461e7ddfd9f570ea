package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.Map;
import org.apache.kafka.common.message.AddRaftVoterResponseData;
import org.apache.kafka.common.message.BeginQuorumEpochResponseData;
import org.apache.kafka.common.message.EndQuorumEpochResponseData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchSnapshotResponseData;
import org.apache.kafka.common.message.RemoveRaftVoterResponseData;
import org.apache.kafka.common.message.UpdateRaftVoterResponseData;
import org.apache.kafka.common.message.VoteResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;

/** Kafka's responses in the words of the suite: a field that Kafka's has not is left out. */
final class Responses {
    private Responses() {}

    /** `request` is the suite's, which a VoteResponse needs. */
    static Map<String, Object> shown(ApiMessage response, Map<String, Object> request, Setup setup) {
        if (response instanceof VoteResponseData vote) {
            return vote.errorCode() != 0 ? failed("Vote", vote.errorCode()) : shownVote(vote, request);
        }
        if (response instanceof BeginQuorumEpochResponseData begin) {
            if (begin.errorCode() != 0) {
                return failed("BeginQuorumEpoch", begin.errorCode());
            }
            BeginQuorumEpochResponseData.PartitionData partition = begin.topics().get(0).partitions().get(0);
            return led(
                    "BeginQuorumEpoch", partition.errorCode(), partition.leaderEpoch(), partition.leaderId(),
                    Endpoints.fromBeginQuorumEpochResponse(
                            Names.LISTENER, partition.leaderId(), begin.nodeEndpoints()));
        }
        if (response instanceof EndQuorumEpochResponseData end) {
            if (end.errorCode() != 0) {
                return failed("EndQuorumEpoch", end.errorCode());
            }
            EndQuorumEpochResponseData.PartitionData partition = end.topics().get(0).partitions().get(0);
            return led(
                    "EndQuorumEpoch", partition.errorCode(), partition.leaderEpoch(), partition.leaderId(),
                    Endpoints.fromEndQuorumEpochResponse(
                            Names.LISTENER, partition.leaderId(), end.nodeEndpoints()));
        }
        if (response instanceof FetchResponseData fetch) {
            return fetch.errorCode() != 0 ? failed("Fetch", fetch.errorCode()) : shownFetch(fetch);
        }
        if (response instanceof FetchSnapshotResponseData fetch) {
            return fetch.errorCode() != 0
                    ? failed("FetchSnapshot", fetch.errorCode())
                    : shownFetchSnapshot(fetch, setup);
        }
        if (response instanceof AddRaftVoterResponseData add) {
            return failed("AddVoter", add.errorCode());
        }
        if (response instanceof RemoveRaftVoterResponseData remove) {
            return failed("RemoveVoter", remove.errorCode());
        }
        if (response instanceof UpdateRaftVoterResponseData update) {
            UpdateRaftVoterResponseData.CurrentLeader leader = update.currentLeader();
            Endpoints endpoints = leader.host().isEmpty()
                    ? Endpoints.empty()
                    : Names.endpoints(Names.shown(leader.host(), leader.port()));
            return led("UpdateVoter", update.errorCode(), leader.leaderEpoch(), leader.leaderId(), endpoints);
        }
        throw new IllegalStateException("a response " + response.getClass().getSimpleName());
    }

    /** An answer that has nothing but an error, or that there is none. */
    private static Map<String, Object> failed(String api, short error) {
        return Json.object("type", api + "Response", "error", Errors.forCode(error).name());
    }

    private static Map<String, Object> led(String api, short error, int epoch, int leader, Endpoints endpoints) {
        Map<String, Object> shown = failed(api, error);
        shown.put("epoch", epoch);
        shown.put("leader_id", Names.leader(leader));
        shown.put("leader_endpoint", Names.shown(endpoints));
        return shown;
    }

    private static Map<String, Object> shownVote(VoteResponseData vote, Map<String, Object> request) {
        VoteResponseData.PartitionData partition = vote.topics().get(0).partitions().get(0);
        Map<String, Object> shown = led(
                "Vote", partition.errorCode(), partition.leaderEpoch(), partition.leaderId(),
                Endpoints.fromVoteResponse(Names.LISTENER, partition.leaderId(), vote.nodeEndpoints()));
        shown.put("granted", partition.voteGranted());
        // Kafka's answer does not say it.
        shown.put("pre_vote", request.get("pre_vote"));
        return shown;
    }

    private static Map<String, Object> shownFetch(FetchResponseData fetch) {
        FetchResponseData.PartitionData partition = fetch.responses().get(0).partitions().get(0);
        FetchResponseData.LeaderIdAndEpoch leader = partition.currentLeader();
        Map<String, Object> shown = led(
                "Fetch", partition.errorCode(), leader.leaderEpoch(), leader.leaderId(),
                Endpoints.fromFetchResponse(Names.LISTENER, leader.leaderId(), fetch.nodeEndpoints()));
        shown.put("high_watermark", partition.highWatermark());
        shown.put("diverging_epoch", partition.divergingEpoch().epoch());
        shown.put("diverging_end_offset", partition.divergingEpoch().endOffset());
        shown.put("records", partition.records() instanceof Records records
                ? new ArrayList<>(TracedRecords.shown(records).values())
                : new ArrayList<>());
        shown.put("snapshot_end_offset", partition.snapshotId().endOffset());
        shown.put("snapshot_epoch", partition.snapshotId().epoch());
        return shown;
    }

    private static Map<String, Object> shownFetchSnapshot(FetchSnapshotResponseData fetch, Setup setup) {
        FetchSnapshotResponseData.PartitionSnapshot partition = fetch.topics().get(0).partitions().get(0);
        FetchSnapshotResponseData.LeaderIdAndEpoch leader = partition.currentLeader();
        Map<String, Object> shown = led(
                "FetchSnapshot", partition.errorCode(), leader.leaderEpoch(), leader.leaderId(),
                Endpoints.fromFetchSnapshotResponse(Names.LISTENER, leader.leaderId(), fetch.nodeEndpoints()));
        shown.put("snapshot", partition.errorCode() != 0 ? null : TracedSnapshots.shown(
                partition.snapshotId().endOffset(), partition.snapshotId().epoch(),
                ((UnalignedMemoryRecords) partition.unalignedRecords()).buffer().duplicate(), setup));
        return shown;
    }
}
