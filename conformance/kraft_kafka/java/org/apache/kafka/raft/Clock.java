package org.apache.kafka.raft;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that stands still in a step. */
final class Clock implements Time {
    // Far from 0, which Kafka takes for never in places.
    private long nowMs = 1_000_000_000_000L;

    /** By so little that no timer runs out, so that one that starts anew has another deadline. */
    void tick() {
        nowMs++;
    }

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException("nobody sleeps in a step");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nobody waits in a step");
    }
}
