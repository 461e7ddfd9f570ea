package org.apache.kafka.raft;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.server.common.KRaftVersion;

/** The file quorum-state, in memory: each write that Kafka asks for is shown, also one of what it holds already. */
final class ShownStore extends MockQuorumStateStore {
    private final Consumer<Map<String, Object>> effects;
    private int version;

    ShownStore(Consumer<Map<String, Object>> effects) {
        this.effects = effects;
    }

    /** Of the file that was written last. */
    int version() {
        return version;
    }

    @Override
    public void writeElectionState(ElectionState state, KRaftVersion kraftVersion) {
        super.writeElectionState(state, kraftVersion);
        version = kraftVersion.quorumStateVersion();
        effects.accept(Json.object(
                "kind", "PersistQuorumState",
                "epoch", state.epoch(),
                "leader_id", state.hasLeader() ? state.leaderId() : null,
                "voted_key", state.optionalVotedKey().map(Names::shown).orElse(null),
                "version", version));
    }
}
