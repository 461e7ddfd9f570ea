package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.apache.kafka.common.message.AddRaftVoterResponseData;
import org.apache.kafka.common.message.RemoveRaftVoterResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.raft.errors.NotLeaderException;
import org.apache.kafka.server.common.KRaftVersion;

/** Voter changes and upgrades that clients ask for, and their answers. */
final class ClientRequests {
    private record Answered(int place, Map<String, Object> reply) {}

    private final RunningClient client;
    /** How many effects the step has had so far. */
    private final IntSupplier shown;
    private final List<Answered> answers = new ArrayList<>();
    /** Upgrades by their number, with the offset whose commit their answer waits for. */
    private final Map<Long, Long> upgrades = new TreeMap<>();

    ClientRequests(RunningClient client, IntSupplier shown) {
        this.client = client;
        this.shown = shown;
    }

    /** 4.0 has no way to upgrade kraft.version. */
    static boolean canUpgrade() {
        return Member.UPGRADE.isThere();
    }

    void addVoter(Map<String, Object> input) {
        ask(Requests.addVoter(input), Json.integer(input, "request"));
    }

    void removeVoter(Map<String, Object> input) {
        ask(Requests.kafkas("RemoveVoterRequest", input), Json.integer(input, "request"));
    }

    private void ask(ApiMessage data, long number) {
        RaftRequest.Inbound request =
                new RaftRequest.Inbound(Names.LISTENER, 0, data.highestSupportedVersion(), data, client.nowMs());
        client.deliver(request, response -> answer(number, response instanceof AddRaftVoterResponseData add
                ? add.errorCode()
                : ((RemoveRaftVoterResponseData) response).errorCode()));
    }

    void updateFeatures(Map<String, Object> input) {
        long number = Json.integer(input, "request");
        long wanted = Json.integer(input, "kraft_version");
        boolean brokersCan =
                Json.integer(input, "brokers_min") <= wanted && wanted <= Json.integer(input, "brokers_max");
        // The controller looks at the brokers, and leaves the rest to the raft layer.
        Errors error = brokersCan ? upgrade((short) wanted) : Errors.INVALID_UPDATE_VERSION;
        if (error == Errors.NONE) {
            // The controller writes a NoOpRecord behind it and answers when that is committed.
            client.settle();
            upgrades.put(number, client.kafka().logEndOffset());
        } else {
            answer(number, error.code());
        }
    }

    private Errors upgrade(short wanted) {
        try {
            Member.UPGRADE.call(
                    client.kafka(), client.quorum().epoch(), KRaftVersion.fromFeatureLevel(wanted), false);
            return Errors.NONE;
        } catch (NotLeaderException error) {
            return Errors.NOT_LEADER_OR_FOLLOWER;
        } catch (RuntimeException error) {
            return Errors.INVALID_UPDATE_VERSION;
        }
    }

    private void answer(long number, short error) {
        Map<String, Object> reply = Json.object("request", number, "error", Errors.forCode(error).name());
        answers.add(new Answered(shown.getAsInt(), reply));
    }

    /**
     * Put what has been answered in the step among its effects, where it was: Kafka tells clients no more than the
     * error, the rest is as it is.
     */
    void addTo(List<Map<String, Object>> effects) {
        answerUpgrades();
        for (int i = answers.size() - 1; i >= 0; i--) {
            Map<String, Object> reply = answers.get(i).reply();
            reply.put("epoch", client.quorum().epoch());
            reply.put("leader_id", Names.leader(client.quorum().leaderIdOrSentinel()));
            reply.put("leader_endpoint", Names.shown(client.quorum().leaderEndpoints()));
            effects.add(answers.get(i).place(), Json.object("kind", "Answer", "reply", reply));
        }
        answers.clear();
    }

    private void answerUpgrades() {
        boolean leads = client.quorum().isLeader();
        long committed = client.kafka().highWatermark().orElse(-1);
        upgrades.entrySet().removeIf(upgrade -> {
            if (leads && committed < upgrade.getValue()) {
                return false;
            }
            answer(upgrade.getKey(), (leads ? Errors.NONE : Errors.NOT_LEADER_OR_FOLLOWER).code());
            return true;
        });
    }
}
