package kraftspec;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kraftspec.Json.Declined;
import kraftspec.Json.Fields;

/**
 * The correlation ids of a trace of other software in the model's numbers, as kraft_traces.check.correlations does it.
 *
 * <p>A line is translated in place. What it adds is remembered once it is accepted.
 */
final class Correlations {
  /** The requests of one replica to another. */
  private static final class Connection {
    final LinkedHashMap<Long, Long> lines = new LinkedHashMap<>();
    final Set<Long> open = new HashSet<>();
  }

  private static final long BEFORE = 0;

  private final int rememberedMax;
  private final Map<Long, Connection> connections = new TreeMap<>();
  private final Set<Long> unsure = new TreeSet<>();
  private final List<long[]> sent = new ArrayList<>();
  private long[] answered;
  private long restarted;

  Correlations(int rememberedMax) { this.rememberedMax = rememberedMax; }

  /** [[[asker, asked, [[id, sequence], ...], [open id, ...]], ...], [unsure replica, ...]] */
  void begin(Object[] known) {
    connections.clear();
    unsure.clear();
    for (Object one : (Object[]) known[0]) {
      Object[] parts = (Object[]) one;
      Connection made = at(place((Long) parts[0], (Long) parts[1]));
      for (Object pair : (Object[]) parts[2]) made.lines.put((Long) ((Object[]) pair)[0], (Long) ((Object[]) pair)[1]);
      for (Object given : (Object[]) parts[3]) made.open.add((Long) given);
    }
    for (Object replica : (Object[]) known[1]) unsure.add((Long) replica);
  }

  /** What {@link #begin} takes. */
  String text() {
    StringBuilder text = new StringBuilder("[[");
    String comma = "";
    for (Map.Entry<Long, Connection> one : connections.entrySet()) {
      text.append(comma).append('[').append(one.getKey() >> 32).append(',').append((int) (long) one.getKey());
      text.append(",[");
      comma = "";
      for (Map.Entry<Long, Long> line : one.getValue().lines.entrySet()) {
        text.append(comma).append('[').append(line.getKey()).append(',').append(line.getValue()).append(']');
        comma = ",";
      }
      text.append("],").append(new TreeSet<>(one.getValue().open)).append(']');
      comma = ",";
    }
    return text.append("],").append(unsure).append(']').toString();
  }

  /** The model's number of the request that a message to this replica is or answers; null if it is not known. */
  Long numberOf(Fields message, long replica) {
    long source = number(message, "source"), given = number(message, "correlation_id");
    return line(isRequest(message) ? place(source, replica) : place(replica, source), given);
  }

  /**
   * Puts the ids of a line in the model's numbers; {@code starts} says that its replica starts anew. No line sent the
   * message that it receives if it is {@code unsent}; of a request from an opaque replica, the number is always that of
   * the line.
   */
  void translate(Fields line, long replica, long sequence, boolean starts, boolean unsent, boolean anew) {
    sent.clear();
    answered = null;
    restarted = starts ? replica : -1;
    if (line.get("answer") != null) translate(Form.typed(line.get("answer"), Fields.class), -1);
    Object message = line.get("message");
    if (message != null) {
      Fields shown = Form.typed(message, Fields.class);
      boolean unknown = unsent && numberOf(shown, replica) == null;
      if (unsent && isRequest(shown) && (anew || unknown)) {
        long place = place(number(shown, "source"), replica);
        sent.add(new long[] {place, number(shown, "correlation_id"), anew ? sequence : BEFORE, 0});
      }
      // Its receiver does not await a response to no request, so any number does that no request has.
      if (unknown && !isRequest(shown)) shown.set("correlation_id", sequence);
      else delivered(shown, replica);
    }
    if (line.get("effects") != null) {
      for (Object one : Form.typed(line.get("effects"), Object[].class)) {
        Fields effect = Form.typed(one, Fields.class);
        if ("Send".equals(effect.get("kind"))) {
          sends(Form.typed(effect.get("message"), Fields.class), replica, sequence);
        }
      }
    }
    if (line.get("state") != null) state(Form.typed(line.get("state"), Fields.class), replica);
  }

  /** The line is accepted. */
  void follow() {
    if (restarted >= 0) {
      for (Map.Entry<Long, Connection> one : connections.entrySet()) {
        if (one.getKey() >> 32 == restarted) one.getValue().open.clear();
      }
    }
    if (answered != null) at(answered[0]).open.remove(answered[1]);
    for (long[] one : sent) {
      Connection connection = at(one[0]);
      if (one[3] == 0) connection.open.remove(one[1]);
      else connection.open.add(one[1]);
      connection.lines.remove(one[1]);
      connection.lines.put(one[1], one[2]);
      if (connection.lines.size() > rememberedMax) {
        Iterator<Long> oldest = connection.lines.keySet().iterator();
        connection.open.remove(oldest.next());
        oldest.remove();
        unsure.add(one[0] >> 32);
      }
    }
  }

  private static long place(long asker, long asked) { return asker << 32 | asked; }

  private Connection at(long place) { return connections.computeIfAbsent(place, key -> new Connection()); }

  private static boolean isRequest(Fields message) {
    return Form.typed(message.get("type"), String.class).endsWith("Request");
  }

  private static long number(Fields message, String name) {
    Object value = message.get(name);
    if (!(value instanceof Long)) throw new Declined("a message without " + name);
    return (Long) value;
  }

  private Long line(long place, long given) {
    for (int i = sent.size() - 1; i >= 0; i--) {
      if (sent.get(i)[0] == place && sent.get(i)[1] == given) return sent.get(i)[2];
    }
    Connection known = connections.get(place);
    return known == null ? null : known.lines.get(given);
  }

  private boolean isOpen(long place, long given) {
    for (long[] one : sent) if (one[0] == place && one[1] == given) return one[3] == 1;
    if (place >> 32 == restarted || answered != null && answered[0] == place && answered[1] == given) return false;
    Connection known = connections.get(place);
    return known != null && known.open.contains(given);
  }

  private void put(Fields message, long place, long given) {
    Long line = line(place, given);
    if (line == null) throw new Declined("an id that is not known");
    message.set("correlation_id", line);
  }

  /** A message from {@code source}, or from whom it says. */
  private void translate(Fields message, long source) {
    long from = source < 0 ? number(message, "source") : source;
    long to = number(message, "destination"), given = number(message, "correlation_id");
    put(message, isRequest(message) ? place(from, to) : place(to, from), given);
  }

  private void delivered(Fields message, long replica) {
    long source = number(message, "source"), given = number(message, "correlation_id");
    if (isRequest(message)) put(message, place(source, replica), given);
    else {
      answered = new long[] {place(replica, source), given};
      put(message, answered[0], given);
    }
  }

  private void sends(Fields message, long replica, long sequence) {
    if (!isRequest(message)) {
      translate(message, replica);
      return;
    }
    long place = place(replica, number(message, "destination")), given = number(message, "correlation_id");
    if (isOpen(place, given)) throw new Declined("an id that is taken");
    sent.add(new long[] {place, given, sequence, 1});
    message.set("correlation_id", sequence);
  }

  private void state(Fields state, long replica) {
    if (state.get("awaiting") instanceof Object[]) {
      for (Object pair : (Object[]) state.get("awaiting")) {
        Object[] one = Form.typed(pair, Object[].class);
        if (one.length != 2 || !(one[0] instanceof Long) || !(one[1] instanceof Long)) throw new Declined("no pair");
        Long line = line(place(replica, (Long) one[0]), (Long) one[1]);
        if (line == null) throw new Declined("an id that is not known");
        one[1] = line;
      }
    }
    if (state.get("pending_change") instanceof Fields) {
      Fields change = (Fields) state.get("pending_change");
      if (change.get("requester") instanceof Long && change.get("request") instanceof Long) {
        Long asker = (Long) change.get("requester");
        Long line = line(place(asker, replica), (Long) change.get("request"));
        if (line == null) throw new Declined("an id that is not known");
        change.set("request", line);
      }
    }
  }
}
