package org.apache.kafka.raft;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.raft.generated.QuorumStateData;
import org.apache.kafka.server.common.KRaftVersion;

/** The file quorum-state, in memory: each write that Kafka asks for is shown, also one of what it holds already. */
final class ShownStore implements QuorumStateStore {
    private final Consumer<Map<String, Object>> effects;
    /** As in the file, because some fields are in one version of it only. */
    private Optional<QuorumStateData> file = Optional.empty();
    private int version;

    ShownStore(Consumer<Map<String, Object>> effects) {
        this.effects = effects;
    }

    /** Of the file that was written last. */
    int version() {
        return version;
    }

    @Override
    public Optional<ElectionState> readElectionState() {
        return file.map(ElectionState::fromQuorumStateData);
    }

    @Override
    public void writeElectionState(ElectionState state, KRaftVersion kraftVersion) {
        version = kraftVersion.quorumStateVersion();
        file = Optional.of(state.toQuorumStateData((short) version));
        effects.accept(Json.object(
                "kind", "PersistQuorumState",
                "epoch", state.epoch(),
                "leader_id", state.hasLeader() ? state.leaderId() : null,
                "voted_key", state.optionalVotedKey().map(Names::shown).orElse(null),
                "version", version));
    }

    @Override
    public Path path() {
        return Path.of("quorum-state");
    }

    @Override
    public void clear() {
        file = Optional.empty();
    }
}
