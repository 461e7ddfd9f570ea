package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.server.common.OffsetAndEpoch;

/** The fields of the state, as Kafka has them; those that it does not keep are left out. */
final class Observation {
    private Observation() {}

    static Map<String, Object> of(Setup setup, Disk disk, RunningClient client) {
        Map<String, Object> shown = Json.object(
                "replica_key", Names.shown(setup.id(), Names.directory(disk.directoryId())),
                "role", client == null ? "Stopped" : client.state().name(),
                "log_end_offset", disk.log().endOffset().offset(),
                "last_epoch", disk.log().lastFetchedEpoch(),
                "flushed_offset", disk.log().flushedOffset());
        if (client != null) {
            shown.putAll(ofRunning(disk, client));
        }
        return shown;
    }

    private static Map<String, Object> ofRunning(Disk disk, RunningClient client) {
        QuorumState quorum = client.quorum();
        // Of a record that a snapshot has replaced the suite says that it is the snapshot's last.
        long votersOffset = Math.max(
                client.controlRecords().lastVoterSetOffset().orElse(-1), disk.log().startOffset() - 1);
        Map<String, Object> voters = Json.object(
                "offset", votersOffset,
                "voters", TracedRecords.shownKeys(client.controlRecords().lastVoterSet()),
                "target", null);
        Map<String, Object> shown = Json.object(
                "epoch", quorum.epoch(),
                "leader_id", Names.leader(quorum.leaderIdOrSentinel()),
                "leader_endpoint", Names.shown(quorum.leaderEndpoints()),
                "voted_key", Elections.votedKey(quorum).map(Names::shown).orElse(null),
                "log_start_offset", disk.log().startOffset(),
                "high_watermark", quorum.highWatermark().map(LogOffsetMetadata::offset).orElse(-1L),
                "voters", voters,
                "kraft_version", (int) client.controlRecords().lastKraftVersion().featureLevel(),
                "granted", votes(client.state(), true),
                "rejected", votes(client.state(), false),
                "wanted_snapshot", wantedSnapshot(client.state()),
                "quorum_state_version", disk.store().version());
        if (Member.HAS_FETCHED.isThere()) {
            shown.put("fetched", client.state() instanceof FollowerState follower
                    && (boolean) Member.HAS_FETCHED.get(follower));
        }
        return shown;
    }

    private static List<Object> votes(EpochState state, boolean granted) {
        return new ArrayList<>(new TreeSet<>(Elections.voters(state, granted)));
    }

    private static Map<String, Object> wantedSnapshot(EpochState state) {
        if (!(state instanceof FollowerState follower) || follower.fetchingSnapshot().isEmpty()) {
            return null;
        }
        OffsetAndEpoch wanted = follower.fetchingSnapshot().get().snapshotId();
        return Json.object("end_offset", wanted.offset(), "epoch", wanted.epoch());
    }
}
