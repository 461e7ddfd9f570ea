package kraftspec;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import kraftspec.Json.Fields;

/** The messages on their way, by their ids. */
final class Flights {
  /** A message on its way, as its sender's line showed it. */
  static final class Sent {
    final Fields message;
    final long sequence;
    final int receiver;
    private int copies;

    private Sent(Fields message, long sequence, int receiver, int copies) {
      this.message = message;
      this.sequence = sequence;
      this.receiver = receiver;
      this.copies = copies;
    }
  }

  private final Map<String, Sent> onTheirWay = new HashMap<>();
  private final Opaque opaque;

  Flights(Opaque opaque) { this.opaque = opaque; }

  /** A message that a line shows without a line that sent it. */
  static Sent unsent(Fields message, long sequence, int receiver) { return new Sent(message, sequence, receiver, 1); }

  /** [[id, copies, message], ...] */
  void begin(Object[] sent) {
    onTheirWay.clear();
    for (Object one : sent) {
      Object[] parts = (Object[]) one;
      remember((String) parts[0], (Fields) parts[2], (int) (long) (Long) parts[1]);
    }
  }

  /** What {@link #begin} takes. */
  String text() {
    StringBuilder text = new StringBuilder("[");
    for (Map.Entry<String, Sent> one : new TreeMap<>(onTheirWay).entrySet()) {
      if (text.length() > 1) text.append(',');
      text.append("[\"").append(one.getKey()).append("\",").append(one.getValue().copies).append(',');
      Json.write(one.getValue().message, text);
      text.append(']');
    }
    return text.append(']').toString();
  }

  /** {id: copies, ...} */
  String copies() {
    StringBuilder text = new StringBuilder("{");
    for (Map.Entry<String, Sent> one : onTheirWay.entrySet()) {
      if (text.length() > 1) text.append(',');
      text.append('"').append(one.getKey()).append("\":").append(one.getValue().copies);
    }
    return text.append('}').toString();
  }

  /** Null if there is none. */
  Sent get(String identifier) { return onTheirWay.get(identifier); }

  /** The line of this event is accepted: one message came, if not null, others are sent. */
  void follow(String event, Sent came, String identifier, Fields line) {
    if (came != null && identifier != null) {
      if (event.equals("DuplicateMessage")) came.copies++;
      else if (--came.copies == 0) onTheirWay.remove(identifier);
    }
    Fields answer = (Fields) line.get("answer");
    if (answer != null) remember((String) answer.get("id"), answer, 1);
    if (line.get("effects") == null) return;
    for (Object one : (Object[]) line.get("effects")) {
      Fields effect = (Fields) one;
      if (!"Send".equals(effect.get("kind"))) continue;
      Fields message = (Fields) effect.get("message");
      if (!opaque.isOpaque(message.get("destination"))) remember((String) message.get("id"), message, 1);
    }
  }

  private void remember(String identifier, Fields message, int copies) {
    int dot = identifier.indexOf('.');
    int end = identifier.indexOf('.', dot + 1);
    int receiver = Integer.parseInt(identifier.substring(dot + 1, end < 0 ? identifier.length() : end));
    onTheirWay.put(identifier, new Sent(message, Long.parseLong(identifier.substring(0, dot)), receiver, copies));
  }
}
