package voter;

import adapter.Json;
import adapter.Replica.Unsupported;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Fetch, divergence and truncation, appends, the high watermark. */
final class Replication {
    private final Member me;

    Replication(Member me) {
        this.me = me;
    }

    // ---- The Leader. -------------------------------------------------------------------------------------

    String afterClientAppend(Map<String, Object> input) {
        if (me.role != Role.Leader) {
            return "NOT_IN_ROLE";
        }
        append(List.of(Json.object("epoch", me.epoch, "kind", "Data", "value", input.get("value"))));
        return null;
    }

    /** Records at the end of the Leader's log, synced before it counts itself. */
    void append(List<Map<String, Object>> records) {
        me.log.append(records);
        me.log.flush();
        advanceHighWatermark();
    }

    /** Only up to records of the own epoch, and never back.  Rules: hw.majority, hw.own-epoch, hw.monotonic. */
    private void advanceHighWatermark() {
        List<Long> reached = new ArrayList<>();
        for (Key voter : me.voters()) {
            reached.add(voter.equals(me.key) ? me.log.endOffset() : me.fetchOffsets.getOrDefault(voter, 0L));
        }
        reached.sort(Collections.reverseOrder());
        long offset = reached.get(reached.size() / 2);
        if (offset > me.epochStart && offset > me.highWatermark) {
            me.highWatermark = offset;
        }
    }

    /** Only the Leader of exactly this epoch serves.  Rule: fetch.leader-only. */
    String afterFetchRequest(Map<String, Object> request) {
        long epoch = Json.integer(request, "epoch");
        long offset = Json.integer(request, "fetch_offset");
        long lastEpoch = Json.integer(request, "last_epoch");
        if (me.isForeign(request)) {
            return refuse(request, "INCONSISTENT_CLUSTER_ID", "FOREIGN_CLUSTER");
        }
        if (offset < 0 || lastEpoch < 0) {
            return refuse(request, "INVALID_REQUEST", "MALFORMED_REQUEST");
        }
        if (epoch < me.epoch) {
            return refuse(request, "FENCED_LEADER_EPOCH", "STALE_EPOCH");
        }
        if (epoch > me.epoch) {
            return refuse(request, "UNKNOWN_LEADER_EPOCH", "UNKNOWN_EPOCH");
        }
        if (me.role != Role.Leader) {
            return refuse(request, "NOT_LEADER_OR_FOLLOWER", "NOT_LEADER");
        }
        Key fetcher = Key.of(request.get("replica_key"));
        noteFetcher(fetcher);
        if (!me.log.agrees(offset, lastEpoch)) {
            answer(request, "NONE", me.log.endOfEpoch(lastEpoch), List.of());
            return null;
        }
        me.fetchOffsets.put(fetcher, offset);
        advanceHighWatermark();
        long most = me.setup.fetchMaxRecords();
        long end = most == 0 ? me.log.endOffset() : Math.min(offset + most, me.log.endOffset());
        answer(request, "NONE", new Log.EpochEnd(-1, -1), me.log.between(offset, me.log.batchEnd(end)));
        return null;
    }

    /** A complete majority starts the check-quorum period anew.  Rule: check-quorum.counts-keys. */
    private void noteFetcher(Key fetcher) {
        if (!me.otherVoters().contains(fetcher)) {
            return;
        }
        me.fetchers.add(fetcher.id());
        if (me.isMajority(me.fetchers.size() + (me.isVoter() ? 1 : 0))) {
            me.fetchers.clear();
            me.startTimer("check-quorum", me.setup.checkQuorumPeriodMs());
        }
    }

    private String refuse(Map<String, Object> request, String error, String refusal) {
        answer(request, error, new Log.EpochEnd(-1, -1), List.of());
        return refusal;
    }

    private void answer(
            Map<String, Object> request, String error, Log.EpochEnd diverging, List<Map<String, Object>> records) {
        boolean publishes = error.equals("NONE") && me.highWatermark > me.epochStart;
        me.answer(request, "FetchResponse", error,
                "high_watermark", publishes ? me.highWatermark : -1L,
                "diverging_epoch", diverging.epoch(),
                "diverging_end_offset", diverging.offset(),
                "records", records,
                "snapshot_end_offset", -1L,
                "snapshot_epoch", -1L);
    }

    // ---- Followers, and whoever looks for a leader. ------------------------------------------------------

    /** A Fetch of everything after the own log, which is synced first.  Rule: durable.flush-before-fetch. */
    String afterPollFetch(long destination) {
        boolean due = switch (me.role) {
            case Follower -> me.leaderId == destination;
            case Unattached -> destination != me.key.id() && me.setup.bootstrapServers().contains(destination);
            default -> false;
        };
        if (!due || !me.awaiting.isEmpty()) {
            return "NOTHING_DUE";
        }
        me.log.flush();
        me.ask("FetchRequest", new Key(destination, null),
                "epoch", me.epoch,
                "replica_key", me.key.shown(),
                "fetch_offset", me.log.endOffset(),
                "last_epoch", me.log.lastEpoch(),
                "cluster_id", me.setup.clusterId());
        return null;
    }

    /** Epoch and leader first; data only as Follower of that leader in that epoch.  Rule: fetch.response.common. */
    String afterFetchResponse(Map<String, Object> response) {
        long epochBefore = me.epoch;
        String refusal = me.received(response);
        refusal = refusal == null ? me.useless(response) : refusal;
        if (refusal != null) {
            return refusal;
        }
        boolean learned = me.learnFrom(response);
        boolean failed = !Member.error(response).equals("NONE");
        boolean follows = me.epoch == epochBefore
                && me.role == Role.Follower
                && me.leaderId == Json.integer(response, "source");
        if (failed || !follows) {
            return learned ? null : failed ? "ERROR_RESPONSE" : "NOT_FOLLOWER_OF_SENDER";
        }
        if (Json.integer(response, "snapshot_end_offset") >= 0) {
            throw new Unsupported("snapshots");
        }
        long divergingEpoch = Json.integer(response, "diverging_epoch");
        if (divergingEpoch >= 0) {
            Log.EpochEnd own = me.log.endOfEpoch(divergingEpoch);
            long theirEnd = Json.integer(response, "diverging_end_offset");
            long cut = own.epoch() == divergingEpoch ? Math.min(own.offset(), theirEnd) : own.offset();
            if (cut < me.highWatermark) {
                return "TRUNCATION_BELOW_HIGH_WATERMARK";
            }
            me.log.truncate(cut);
        } else {
            for (Object record : Json.list(response, "records")) {
                me.log.append(List.of(Json.asObject(record)));
            }
            long published = Math.min(Json.integer(response, "high_watermark"), me.log.endOffset());
            me.highWatermark = Math.max(me.highWatermark, published);
        }
        me.fetched = true;
        me.startTimer("fetch", me.setup.fetchTimeoutMs());
        return null;
    }
}
