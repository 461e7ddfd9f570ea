package adapter;

import java.util.List;
import java.util.Map;

/**
 * THE SEAM: everything above it speaks kraft-adapter/1, everything below it is an implementation of KRaft.
 *
 * <p>Implement this interface for your own replica, put it into Main, and delete the folder voter.  Messages, effects
 * and states are JSON objects with the names of docs/trace-format.md.
 */
public interface Replica {
    /**
     * What is tested, and how much of it can be: the fields of the reply to hello, without `schema`.
     *
     * <p>Begin with much in `unsupported` and with the observability `wire`, and take away and raise as you go.
     */
    Map<String, Object> hello();

    /**
     * Forget everything.  You are replica `id` of `cluster` with an empty disk, formatted and started: Unattached in
     * epoch 0.
     */
    void reset(long id, Map<String, Object> cluster);

    /**
     * An event happens: a message arrives (Handle...), a timer fires (...Timeout), the replica is polled, a client
     * appends.
     *
     * @param message what arrives; null if no message does
     * @param input the event's own fields; empty if it has none
     * @param draw what comes from outside, in case the step needs it
     * @return what the replica writes, sends and starts, in its order, and why it did nothing
     */
    Step step(String event, Map<String, Object> message, Map<String, Object> input, Draw draw);

    /** The fields of the state, asked for only if the observability is `state`. */
    Map<String, Object> observe();

    /** The process dies; of the log the records before `logEndOffset` survive, of all else what was synced. */
    void crash(long logEndOffset);

    /** The process starts from its disk, and listens at `endpoint` if that is not null. */
    Step restart(String endpoint, Draw draw);

    /** What the runner owns, because it is chance: take these in place of numbers of your own. */
    record Draw(long correlationId, long electionTimeoutMs, long electionBackoffMs) {}

    /**
     * What came of an event.
     *
     * @param effects such as {"kind":"Send","message":{...}}; below the observability `effects` only Send and Answer
     * @param refusal the reason code of an event that changed nothing, null for one that did something, or UNSAID
     */
    record Step(List<Map<String, Object>> effects, String refusal) {
        /** Your replica does not say why it does nothing, or has other reasons than the codes: that is not judged. */
        public static final String UNSAID = "";
    }

    /** Thrown for what this implementation does not have; the vector is then unsupported and not failed. */
    final class Unsupported extends RuntimeException {
        private static final long serialVersionUID = 1;

        public Unsupported(String what) {
            super(what);
        }
    }
}
