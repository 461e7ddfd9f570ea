package kraftspec;

import static kraftspec.Json.require;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kraftspec.Flights.Sent;
import kraftspec.Json.Fields;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import util.UniqueString;

/** What the lines of an event hold beside what is seen of the replica, and the model's variable {@code event}. */
final class Event {
  /** A configuration with other answers to decisions that are free: which answers these are, in bits. */
  static final class Other {
    final Value configuration;
    final long answers;

    Other(Value configuration, long answers) {
      this.configuration = configuration;
      this.answers = answers;
    }
  }

  private static final String CHANGE_SUFFIX = ".change";
  private static final int NOT_SHOWN = -2;
  private static final Values.Shape NOW =
      new Values.Shape("destination", "correlation_id", "records", "watermark", "error");
  private static final Value NO_ANSWER =
      NOW.of(IntValue.gen(-1), IntValue.gen(-1), IntValue.gen(0), IntValue.gen(NOT_SHOWN), Form.text(""));
  private static final Set<Object> SENT = Set.of("Send", "Answer", "StartTimer");
  private static final Values.Shape FETCHES = new Values.Shape("waits", "now", "late");

  final String name;
  final int action;
  final boolean atReplica;
  final Object cause;
  /** The type of the message that arrives in it; null if none does. */
  final String message;
  /** Null if it has none. */
  final Shown input;
  /** The input of a line that has none; null if such a line lacks it. */
  final Fields defaults;
  final boolean starts;
  final long bits;
  /** The role of a replica after it that it asks for others; null if it asks any. */
  String roleThatAsks;
  /** Those that the event may ask for. */
  final List<Other> others = new ArrayList<>();
  /** How many lines showed what, in bits. */
  final Map<Long, Integer> counts = new HashMap<>();
  private final Values.Shape[] shapes = new Values.Shape[16];

  Event(String name, Fields table, Map<String, Integer> actions) {
    this.name = name;
    action = actions.get((String) table.get("action"));
    atReplica = (Boolean) table.get("at_replica");
    cause = table.get("cause");
    message = table.get("message") == Json.NULL ? null : (String) table.get("message");
    starts = (Boolean) table.get("starts");
    bits = (Long) table.get("bits");
    input = table.get("input") == Json.NULL ? null : new Shown((Fields) table.get("input"));
    defaults = table.get("default") == Json.NULL ? null : (Fields) table.get("default");
  }

  private static final Values.Shape UNSENT = new Values.Shape("name", "sequence", "message");

  /** The value of {@code event} for the step in which a replica that is not observed sends a message. */
  static Value unsent(long number, Value message) {
    return UNSENT.of(Form.text("OpaqueSend"), IntValue.gen((int) number), message);
  }

  /** The value of {@code event}; of {@code given}, {@code crash}, {@code came} and {@code fetches} each may be null. */
  Value bound(long replica, long number, Fields given, Fields crash, Sent came, Value fetches) {
    List<Value> values = new ArrayList<>(12);
    values.add(Form.text(name));
    values.add(Form.text(message == null ? "" : message));
    values.add(IntValue.gen((int) replica));
    values.add(IntValue.gen((int) number));
    values.add(IntValue.gen(crash == null ? -1 : natural(crash.get("completed"))));
    if (given != null) values.addAll(Arrays.asList(input.values(given)));
    if (crash != null) values.add(IntValue.gen(Form.integer(crash.get("log_end_offset"))));
    if (fetches != null) values.add(fetches);
    if (came != null) values.add(IntValue.gen((int) came.sequence));
    if (came != null && message == null) {
      values.add(IntValue.gen(came.receiver));
      String identifier = (String) came.message.get("id");
      values.add(identifier.endsWith(CHANGE_SUFFIX) ? BoolValue.ValTrue : BoolValue.ValFalse);
    }
    int parts = (given == null ? 0 : 1) + (crash == null ? 0 : 2) + (fetches == null ? 0 : 4) + (came == null ? 0 : 8);
    if (shapes[parts] == null) shapes[parts] = shape(given, crash, came, fetches);
    return shapes[parts].of(values.toArray(new Value[0]));
  }

  /** The names of what {@link #bound} lists, in that order. */
  private Values.Shape shape(Fields given, Fields crash, Sent came, Value fetches) {
    List<String> names = new ArrayList<>(List.of("name", "type", "replica", "sequence", "completed"));
    if (given != null) for (UniqueString one : input.names) names.add(one.toString());
    if (crash != null) names.add("log_end_offset");
    if (fetches != null) names.add("fetches");
    if (came != null) names.add("sent");
    if (came != null && message == null) names.addAll(List.of("destination", "change"));
    return new Values.Shape(names.toArray(new String[0]));
  }

  private static int natural(Object json) {
    int number = Form.integer(json);
    require(number >= 0, "below 0");
    return number;
  }

  /**
   * What a line of other software shows of its answers to Fetches, as kraft_traces.check.fetch_answers has it; null where
   * it has none and no Fetch arrives. Late answers are put last.
   */
  Value answeredFetch(Fields line) {
    if (line.get("effects") == null) return null;
    boolean fetchArrives = name.equals("HandleFetchRequest");
    Fields request = fetchArrives ? (Fields) line.get("message") : null;
    Object[] effects = Form.typed(line.get("effects"), Object[].class);
    Value now = null;
    List<Value> late = new ArrayList<>(0);
    for (Object one : effects) {
      Fields answer = fetchAnswer(one);
      if (answer == null) continue;
      if (isLate(request, answer)) late.add(shownAnswer(answer));
      else if (now == null) now = shownAnswer(answer);
    }
    if (!fetchArrives && late.isEmpty()) return null;
    if (!late.isEmpty()) line.set("effects", withLateLast(request, effects));
    boolean waits = fetchArrives && now == null && line.get("crash") == null;
    return FETCHES.of(
        waits ? BoolValue.ValTrue : BoolValue.ValFalse,
        now == null ? NO_ANSWER : now,
        new TupleValue(late.toArray(new Value[0])));
  }

  private static Fields fetchAnswer(Object effect) {
    Object sent = Form.typed(effect, Fields.class).get("message");
    return sent instanceof Fields && "FetchResponse".equals(((Fields) sent).get("type")) ? (Fields) sent : null;
  }

  /** Does it answer an earlier Fetch than the one that arrives, which is null if none does? */
  private static boolean isLate(Fields request, Fields answer) {
    return request == null
        || differ(answer.get("destination"), request.get("source"))
        || differ(answer.get("correlation_id"), request.get("correlation_id"));
  }

  private static boolean differ(Object one, Object other) {
    return one != null && other != null && !Json.same(one, other);
  }

  /** The messages at the end of a line in an order in which late answers are the last; the order says nothing. */
  private static Object[] withLateLast(Fields request, Object[] effects) {
    int end = effects.length;
    while (end > 0 && SENT.contains(((Fields) effects[end - 1]).get("kind"))) end--;
    List<Object> ordered = new ArrayList<>(Arrays.asList(effects).subList(0, end));
    List<Object> late = new ArrayList<>();
    for (int i = end; i < effects.length; i++) {
      Fields answer = fetchAnswer(effects[i]);
      (answer != null && isLate(request, answer) ? late : ordered).add(effects[i]);
    }
    ordered.addAll(late);
    return ordered.toArray();
  }

  private static Value shownAnswer(Fields answer) {
    Object records = answer.get("records"), error = answer.get("error"), watermark = answer.get("high_watermark");
    Object to = answer.get("destination"), request = answer.get("correlation_id");
    return NOW.of(
        IntValue.gen(to == null ? -1 : Form.integer(to)),
        IntValue.gen(request == null ? -1 : Form.integer(request)),
        IntValue.gen(records == null ? 0 : Form.typed(records, Object[].class).length),
        IntValue.gen(watermark == null ? NOT_SHOWN : Form.integer(watermark)),
        Form.text(error == null ? "" : Form.typed(error, String.class)));
  }
}
