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

    private static final Map<String, Member> FIELDS = new LinkedHashMap<>();

    static {
        FIELDS.put("election", Member.ELECTION_TIMER);
        FIELDS.put("fetch", Member.FETCH_TIMER);
        FIELDS.put("check-quorum", Member.CHECK_QUORUM_TIMER);
        FIELDS.put("begin-quorum-epoch", Member.BEGIN_QUORUM_EPOCH_TIMER);
    }

    private final RunningClient client;
    private Map<String, Long> before = Map.of();
    private Timer fired;
    private boolean hasBackedOff;

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
        hasBackedOff = isBackingOff();
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

    /** 3.9: after an election that has timed out a candidate backs off, before it stands again; let that end, too. */
    boolean fireBackoff() {
        return isBackingOff() && !hasBackedOff && fire("election");
    }

    private boolean isBackingOff() {
        return Boolean.TRUE.equals(Member.BACKING_OFF.get(client.state()));
    }

    /** Since 4.2 a leader announces itself to those only that have not fetched lately: in this check-quorum period. */
    private void forgetFetches() {
        Set<?> lately = (Set<?>) Member.FETCHED_VOTERS.get(client.state());
        ((Map<?, ?>) Member.VOTER_STATES.get(client.state())).forEach((id, voter) -> {
            if (!lately.contains(id)) {
                Member.LAST_FETCH_MS.set(voter, -1L);
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
            if (!(waitsForNothing() && name.equals("election")) && field.get(state) instanceof Timer timer) {
                running.put(name, timer);
            }
        });
        if (isBackingOff() && Member.BACKOFF_TIMER.get(state) instanceof Timer backoff) {
            // 4.0: one that has lost waits for this timer in place of the other.
            running.put("election", backoff);
        }
        for (Member change : List.of(Member.ADDITION, Member.REMOVAL)) {
            Object changes = Member.CHANGES.get(state);
            if (change.get(changes == null ? state : changes) instanceof Optional<?> pending && pending.isPresent()) {
                running.put("voter-change", (Timer) Member.CHANGE_TIMER.get(pending.get()));
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
        return (Timer) Member.ELECTION_TIMER.get(client.state());
    }

    private static long deadlineMs(Timer timer) {
        return (Long) Member.DEADLINE_MS.get(timer);
    }

    private long leftMs(Timer timer) {
        return Math.max(0, deadlineMs(timer) - client.nowMs());
    }
}
