package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Timer;

/** The timers of a running client: the runner says when one fires, and sees when one is started. */
final class Timers {
    /** Longer than any run, in milliseconds. */
    static final int NEVER_MS = 500_000_000;

    private static final Map<String, String> FIELDS = new LinkedHashMap<>();

    static {
        FIELDS.put("election", "electionTimer");
        FIELDS.put("fetch", "fetchTimer");
        FIELDS.put("check-quorum", "checkQuorumTimer");
        FIELDS.put("begin-quorum-epoch", "beginQuorumEpochTimer");
    }

    private final RunningClient client;
    private Map<String, Long> before = Map.of();
    private Timer fired;

    Timers(RunningClient client) {
        this.client = client;
    }

    /** A step begins: what is started from now on is shown. */
    void begin() {
        before = new HashMap<>();
        running().forEach((name, timer) -> before.put(name, deadlineMs(timer)));
        fired = null;
    }

    /** Let a timer fire, if it runs; Kafka sees it when it is polled. */
    boolean fire(String name) {
        fired = name.equals("election") && waitsForNothing() ? electionTimer() : running().get(name);
        if (fired == null) {
            return false;
        }
        if (name.equals("begin-quorum-epoch")) {
            forgetFetches();
        }
        fired.reset(0);
        return true;
    }

    /** Since 4.2 a leader announces itself to those only that have not fetched lately: in this check-quorum period. */
    private void forgetFetches() {
        Set<?> lately = (Set<?>) Fields.get(client.state(), "fetchedVoters");
        ((Map<?, ?>) Fields.get(client.state(), "voterStates")).forEach((id, voter) -> {
            if (!lately.contains(id)) {
                Fields.set(voter, "lastFetchTimestamp", -1L);
            }
        });
    }

    /** The timers that the step has started. */
    List<Map<String, Object>> started() {
        List<Map<String, Object>> started = new ArrayList<>();
        running().forEach((name, timer) -> {
            boolean isNew = !Long.valueOf(deadlineMs(timer)).equals(before.get(name));
            if (isNew && !(timer == fired && leftMs(timer) == 0)) {
                started.add(Json.object("kind", "StartTimer", "timer", name, "duration_ms", leftMs(timer)));
            }
        });
        return started;
    }

    /** A timer that was started with 0 waits for the runner as all others do. */
    void holdExpired() {
        running().forEach((name, timer) -> {
            boolean isSearching = name.equals("fetch") && client.quorum().isObserver();
            if (leftMs(timer) == 0 && !isSearching && !name.equals("begin-quorum-epoch")) {
                hold(timer);
            }
        });
    }

    void hold(Timer timer) {
        timer.update(client.nowMs());
        timer.reset(NEVER_MS);
    }

    private Map<String, Timer> running() {
        Map<String, Timer> running = new LinkedHashMap<>();
        EpochState state = client.state();
        FIELDS.forEach((name, field) -> {
            if (!(waitsForNothing() && name.equals("election")) && Fields.get(state, field) instanceof Timer timer) {
                running.put(name, timer);
            }
        });
        if (state instanceof CandidateState
                && Boolean.TRUE.equals(Fields.get(state, "isBackingOff"))
                && Fields.get(state, "backoffTimer") instanceof Timer backoff) {
            // 4.0: one that has lost waits for this timer in place of the other.
            running.put("election", backoff);
        }
        for (String change : List.of("addVoterHandlerState", "removeVoterHandlerState")) {
            if (Fields.get(state, change) instanceof Optional<?> pending && pending.isPresent()) {
                running.put("voter-change", (Timer) Fields.get(pending.get(), "timeout"));
            }
        }
        running.values().removeIf(timer -> deadlineMs(timer) > Long.MAX_VALUE / 2);
        return running;
    }

    /** An observer never stands for election, though it has the timer. */
    private boolean waitsForNothing() {
        return client.state() instanceof UnattachedState && client.quorum().isObserver();
    }

    private Timer electionTimer() {
        return (Timer) Fields.get(client.state(), FIELDS.get("election"));
    }

    private static long deadlineMs(Timer timer) {
        return (Long) Fields.get(timer, "deadlineMs");
    }

    private long leftMs(Timer timer) {
        return Math.max(0, deadlineMs(timer) - client.nowMs());
    }
}
