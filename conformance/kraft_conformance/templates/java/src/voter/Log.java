package voter;

import adapter.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The metadata log: records as they come, each with the epoch of the leader that wrote it, from offset 0 on. */
final class Log {
    private final List<Map<String, Object>> records = new ArrayList<>();

    /** The records before this offset survive a crash. */
    long flushed;

    /** An epoch of a log, and the offset after its last record. */
    record EpochEnd(long epoch, long offset) {}

    long endOffset() {
        return records.size();
    }

    long lastEpoch() {
        return epochBefore(endOffset());
    }

    /** The epoch of the record before an offset; 0 at the very beginning. */
    private long epochBefore(long offset) {
        return offset == 0 ? 0 : Json.integer(records.get((int) offset - 1), "epoch");
    }

    private String kindAt(long offset) {
        return Json.text(records.get((int) offset), "kind");
    }

    List<Map<String, Object>> between(long start, long end) {
        return List.copyOf(records.subList((int) start, (int) end));
    }

    void append(List<Map<String, Object>> appended) {
        records.addAll(appended);
    }

    void truncate(long end) {
        records.subList((int) end, records.size()).clear();
        flushed = Math.min(flushed, end);
    }

    void flush() {
        flushed = endOffset();
    }

    /** Is a requester's log at least as good as this one?  Rules: vote.log-check, prevote.request.log-check. */
    boolean isMatchedBy(long lastEpoch, long endOffset) {
        return lastEpoch > lastEpoch() || (lastEpoch == lastEpoch() && endOffset >= endOffset());
    }

    /** Does a log that ends at `offset` with `lastEpoch` agree with this one up to there? */
    boolean agrees(long offset, long lastEpoch) {
        return offset <= endOffset() && (offset == 0 || epochBefore(offset) == lastEpoch);
    }

    /** The largest epoch here that is not larger than `epoch`, and where it ends.  Rule: fetch.diverging.truncate. */
    EpochEnd endOfEpoch(long epoch) {
        long end = endOffset();
        while (end > 0 && epochBefore(end) > epoch) {
            end--;
        }
        return new EpochEnd(epochBefore(end), end);
    }

    /** The smallest end from `end` on that leaves the control records of one batch together. */
    long batchEnd(long end) {
        while (end < endOffset() && (kindAt(end).equals("KRaftVersion") || kindAt(end).equals("Voters"))) {
            end++;
        }
        return end;
    }

    /** The offset of the newest voters set, committed or not; -1 if there is none.  Rule: state.voters-set.*. */
    long votersOffset() {
        long offset = endOffset() - 1;
        while (offset >= 0 && !kindAt(offset).equals("Voters")) {
            offset--;
        }
        return offset;
    }
}
