package kraftspec;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import kraftspec.Json.Fields;

/** The replicas that are not observed, and those that became observed, as kraft_traces.check.opaque has them. */
final class Opaque {
  private final Set<Long> now = new HashSet<>();
  private final Map<Long, Long> since = new HashMap<>();

  /** {"now": [replica, ...], "since": [[replica, sequence], ...]} */
  void begin(Fields given) {
    now.clear();
    since.clear();
    for (Object one : (Object[]) given.get("now")) now.add((Long) one);
    for (Object one : (Object[]) given.get("since")) {
      Object[] pair = (Object[]) one;
      since.put((Long) pair[0], (Long) pair[1]);
    }
  }

  /** What {@link #begin} takes. */
  String text() {
    StringBuilder text = new StringBuilder("{\"now\":").append(now).append(",\"since\":[");
    String comma = "";
    for (Map.Entry<Long, Long> one : since.entrySet()) {
      text.append(comma).append('[').append(one.getKey()).append(',').append(one.getValue()).append(']');
      comma = ",";
    }
    return text.append("]}").toString();
  }

  boolean isOpaque(Object replica) { return now.contains(replica); }

  /** Does no line need to have sent this message to a replica, which has no id? */
  boolean isUnsent(Fields message, long replica, Correlations correlations) {
    if (now.isEmpty() && since.isEmpty() || message.get("id") != null) return false;
    Object source = message.get("source");
    if (now.contains(source)) return true;
    long latest = Math.max(since.getOrDefault(source, -1L), since.getOrDefault(replica, -1L));
    if (latest < 0) return false;
    Long number = correlations.numberOf(message, replica);
    return number == null || number <= latest;
  }
}
