package org.apache.kafka.raft;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.snapshot.Snapshots;

/** What outlives a process: the directory id, the log and the file quorum-state. */
record Disk(String directoryId, ShownLog log, ShownStore store) {

    /** An empty disk, formatted: with these voters in its bootstrap checkpoint, or for a static quorum without one. */
    static Disk formatted(Setup setup, String directoryId, VoterSet voters, Consumer<Map<String, Object>> effects) {
        ShownLog log = new ShownLog(setup, effects);
        if (setup.isDynamic()) {
            boolean knowsVoters = !voters.voterIds().isEmpty();
            TracedSnapshots.write(
                    log.createNewSnapshotUnchecked(Snapshots.BOOTSTRAP_SNAPSHOT_ID).get(),
                    voters,
                    knowsVoters ? KRaftVersion.KRAFT_VERSION_1 : KRaftVersion.KRAFT_VERSION_0);
        }
        return new Disk(directoryId, log, new ShownStore(effects));
    }
}
