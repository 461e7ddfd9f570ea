package org.apache.kafka.raft;

import adapter.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.server.common.OffsetAndEpoch;

/** The fields of the state, as Kafka has them; what it keeps in another form is left out. */
final class Observation {
    private Observation() {}

    static Map<String, Object> of(Setup setup, Disk disk, RunningClient client) {
        Map<String, Object> shown = Json.object(
                "replica_key", Names.shown(setup.id(), Names.directory(disk.directoryId())),
                "role", client == null ? "Stopped" : client.state().name(),
                "log_end_offset", disk.log().endOffset().offset(),
                "last_epoch", disk.log().lastFetchedEpoch(),
                "flushed_offset", disk.log().firstUnflushedOffset());
        if (client != null) {
            shown.putAll(ofRunning(disk, client));
        }
        return shown;
    }

    private static Map<String, Object> ofRunning(Disk disk, RunningClient client) {
        QuorumState quorum = client.quorum();
        Map<String, Object> voters = Json.object(
                "voters", TracedRecords.shownKeys(client.controlRecords().lastVoterSet()), "target", null);
        boolean standsOnSnapshot = disk.log().latestSnapshotId().map(OffsetAndEpoch::offset).orElse(0L) > 0;
        if (!standsOnSnapshot) {
            // On a snapshot Kafka has the snapshot's place for the record's.
            voters.put("offset", client.controlRecords().lastVoterSetOffset().orElse(-1));
        }
        return Json.object(
                "epoch", quorum.epoch(),
                "leader_id", Names.leader(quorum.leaderIdOrSentinel()),
                "leader_endpoint", Names.shown(quorum.leaderEndpoints()),
                "voted_key", quorum.votedKey().map(Names::shown).orElse(null),
                "log_start_offset", disk.log().startOffset(),
                "high_watermark", quorum.highWatermark().map(LogOffsetMetadata::offset).orElse(-1L),
                "voters", voters,
                "kraft_version", (int) client.controlRecords().lastKraftVersion().featureLevel(),
                "granted", votes(client.state(), true),
                "rejected", votes(client.state(), false),
                "fetched", client.state() instanceof FollowerState follower
                        && (boolean) Fields.get(follower, "hasFetchedFromLeader"),
                "wanted_snapshot", wantedSnapshot(client.state()),
                "quorum_state_version", disk.store().version());
    }

    private static List<Object> votes(EpochState state, boolean granted) {
        if (!(state instanceof NomineeState nominee)) {
            return List.of();
        }
        Set<Integer> voters = granted
                ? nominee.epochElection().grantingVoters()
                : nominee.epochElection().rejectingVoters();
        return new ArrayList<>(new TreeSet<>(voters));
    }

    private static Map<String, Object> wantedSnapshot(EpochState state) {
        if (!(state instanceof FollowerState follower) || follower.fetchingSnapshot().isEmpty()) {
            return null;
        }
        OffsetAndEpoch wanted = follower.fetchingSnapshot().get().snapshotId();
        return Json.object("end_offset", wanted.offset(), "epoch", wanted.epoch());
    }
}
