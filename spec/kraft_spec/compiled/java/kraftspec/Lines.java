package kraftspec;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import kraftspec.Json.Declined;
import kraftspec.Json.Fields;
import tlc2.tool.TLCState;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import util.UniqueString;

/**
 * The fast path: lines of a trace from their bytes to a state of the compiled model, as long as each is complete and
 * right.
 *
 * <p>It accepts a line or declines it; it never rejects one. What it declines, the other checker judges, from the state
 * before that line. What a line may hold comes from the tables that it is made with.
 */
public final class Lines {
  private static final String SUFFIX = ".change";

  /** A message on its way, as its sender's line showed it. */
  private static final class Sent {
    final Fields message;
    final long sequence;
    final int receiver;
    int copies;

    Sent(Fields message, long sequence, int receiver, int copies) {
      this.message = message;
      this.sequence = sequence;
      this.receiver = receiver;
      this.copies = copies;
    }
  }

  private static final class Event {
    int action;
    boolean atReplica;
    Object cause;
    String message;
    Shown input;
    final Values.Shape[] shapes = new Values.Shape[16];
    boolean starts;
    long bits;
    State[] others = {};
    final Map<Long, Integer> counts = new HashMap<>();
  }

  /** What a line shows, a bit for each field that is counted. */
  private static final class Bits {
    final long all, anything, message, input, sends, writes, refusal;
    final Fields state;

    Bits(Fields table) {
      all = of(table, "all");
      anything = of(table, "anything");
      message = of(table, "message");
      input = of(table, "input");
      sends = of(table, "sends");
      writes = of(table, "writes");
      refusal = of(table, "refusal");
      state = (Fields) table.get("state");
    }

    private static long of(Fields table, String name) { return (Long) table.get(name); }
  }

  private final Json json = new Json();
  private final Map<String, Event> events = new HashMap<>();
  private final Map<String, Shown> messages = new HashMap<>();
  private final Map<String, Shown> effects = new HashMap<>();
  private final Set<String> timers = new HashSet<>();
  private final Set<String> refusable = new HashSet<>();
  private final Set<Long> replicas = new HashSet<>();
  private final Shown state;
  private final Bits bits;
  private final boolean own;
  private final Correlations correlations;
  private final int start;
  private final int refuse;
  private final int every;
  private final Map<String, Sent> onTheirWay = new HashMap<>();
  private final Set<String> sentNow = new HashSet<>();

  private State now;
  private Fields newest;
  private long sequence;
  private long time;

  /** How far the last call came: where in the bytes the next line begins. */
  public int position;
  /** Why it stopped there; null at the end of the bytes. */
  public String why;

  /** Made for one trace; the tables are those that kraft_traces.check.fast writes. */
  public Lines(String tables) {
    byte[] bytes = tables.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    Fields given = (Fields) json.parse(bytes, 0, bytes.length);
    Map<String, Integer> actions = new HashMap<>();
    for (int i = 0; i < Model.ACTIONS.length; i++) actions.put(Model.ACTIONS[i], i);
    Fields table = (Fields) given.get("events");
    for (int i = 0; i < table.size; i++) events.put(table.names[i], event((Fields) table.values[i], actions));
    shown((Fields) given.get("messages"), messages);
    shown((Fields) given.get("effects"), effects);
    state = new Shown((Fields) given.get("state"));
    bits = new Bits((Fields) given.get("bits"));
    own = (Boolean) given.get("own");
    correlations = own ? null : new Correlations((int) (long) (Long) given.get("remembered"));
    for (Object one : (Object[]) given.get("timers")) timers.add((String) one);
    for (Object one : (Object[]) given.get("refusable")) refusable.add((String) one);
    for (Object one : (Object[]) given.get("replicas")) replicas.add((Long) one);
    start = actions.get("TraceStart");
    refuse = actions.get("TraceRefuse");
    every = (int) (long) (Long) given.get("every");
  }

  private static void shown(Fields table, Map<String, Shown> into) {
    for (int i = 0; i < table.size; i++) into.put(table.names[i], new Shown((Fields) table.values[i]));
  }

  private static Event event(Fields table, Map<String, Integer> actions) {
    Event made = new Event();
    made.action = actions.get((String) table.get("action"));
    made.atReplica = (Boolean) table.get("at_replica");
    made.cause = table.get("cause");
    made.message = table.get("message") == Json.NULL ? null : (String) table.get("message");
    made.starts = (Boolean) table.get("starts");
    made.bits = (Long) table.get("bits");
    made.input = table.get("input") == Json.NULL ? null : new Shown((Fields) table.get("input"));
    return made;
  }

  /** Other configurations, each with other answers to decisions that an event may ask for and that are free. */
  public void decisions(String event, Value[] configurations) {
    State[] made = new State[configurations.length];
    for (int i = 0; i < made.length; i++) {
      made[i] = new State();
      made[i].config = configurations[i];
    }
    events.get(event).others = made;
  }

  /** Begins where a run begins, from the variables that are known there, or from all of them. */
  public void start(String[] names, Value[] values, String sent, String known, long newest, long newestTime) {
    State first = State.of(names, values);
    if (!first.isWhole()) {
      now = first;
      first = under(start, now);
      require(found == 1, "not one first state");
    }
    begin(first, sent, known, newest, newestTime);
  }

  /**
   * Begins at a state, with the messages that are on their way: [[id, copies, message], ...], and with the correlation
   * ids that are known, for {@link Correlations}.
   */
  public void begin(TLCState at, String sent, String known, long newest, long newestTime) {
    begin(State.of(at), sent, known, newest, newestTime);
  }

  private void begin(State at, String sent, String known, long newest, long newestTime) {
    now = at;
    sequence = newest;
    time = newestTime;
    onTheirWay.clear();
    if (!own) correlations.begin((Object[]) parsed(known));
    for (Object one : (Object[]) parsed(sent)) {
      Object[] parts = (Object[]) one;
      remember((String) parts[0], (Fields) parts[2], (int) (long) (Long) parts[1]);
    }
  }

  private Object parsed(String text) {
    byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return json.parse(bytes, 0, bytes.length);
  }

  /** The correlation ids that are known, as {@link #begin} takes them. */
  public String known() { return own ? "null" : correlations.text(); }

  /** The state after the last accepted line; {@code like} says which variables there are. */
  public TLCState state(TLCState like) { return now.in(like); }

  /** Do all invariants hold after the last accepted line? */
  public boolean holds() { return holds(now); }

  private static boolean holds(State at) {
    for (String invariant : Model.INVARIANTS) {
      if (!Model.evaluate(invariant, at, null).equals(BoolValue.ValTrue)) return false;
    }
    return true;
  }

  /** The messages on their way, as {@link #begin} takes them. */
  public String sent() {
    StringBuilder text = new StringBuilder("[");
    for (Map.Entry<String, Sent> one : new TreeMap<>(onTheirWay).entrySet()) {
      if (text.length() > 1) text.append(',');
      text.append("[\"").append(one.getKey()).append("\",").append(one.getValue().copies).append(',');
      Json.write(one.getValue().message, text);
      text.append(']');
    }
    return text.append(']').toString();
  }

  /** The last accepted line, with the model's correlation ids. */
  public String line() {
    StringBuilder text = new StringBuilder();
    Json.write(newest, text);
    return text.toString();
  }

  public long sequence() { return sequence; }

  public long time() { return time; }

  /** How many lines of each event showed what since this was asked last: {"Poll": {bits: 3, ...}, ...}. */
  public String counts() {
    StringBuilder text = new StringBuilder("{");
    for (Map.Entry<String, Event> one : events.entrySet()) {
      Map<Long, Integer> counts = one.getValue().counts;
      if (counts.isEmpty()) continue;
      if (text.length() > 1) text.append(',');
      text.append('"').append(one.getKey()).append("\":{");
      String comma = "";
      for (Map.Entry<Long, Integer> count : counts.entrySet()) {
        text.append(comma).append('"').append(count.getKey()).append("\":").append(count.getValue());
        comma = ",";
      }
      text.append('}');
      counts.clear();
    }
    return text.append('}').toString();
  }

  /** Takes lines, each with its newline, up to the first that is declined; how many were accepted. */
  public int feed(byte[] bytes) {
    int accepted = 0;
    position = 0;
    why = null;
    while (position < bytes.length) {
      int end = position;
      while (end < bytes.length && bytes[end] != '\n') end++;
      try {
        if (end == bytes.length) throw new Declined("a line without its newline");
        accept((Fields) Form.typed(json.parse(bytes, position, end), Fields.class));
      } catch (RuntimeException declined) {
        why = String.valueOf(declined.getMessage());
        return accepted;
      }
      accepted++;
      position = end + 1;
    }
    return accepted;
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) throw new Declined(otherwise);
  }

  private void accept(Fields line) {
    require("event".equals(line.get("kind")), "no event");
    long number = (Long) Form.typed(line.get("sequence"), Long.class);
    require(number == sequence + 1 && number == (int) number, "another sequence");
    String name = (String) Form.typed(line.get("event"), String.class);
    Event event = events.get(name);
    require(event != null, "no such event");
    int known = 3;
    long at = time;
    if (isThere(line, "time_ms")) {
      at = (Long) Form.typed(line.get("time_ms"), Long.class);
      require(at >= time, "an earlier time");
      known++;
    }
    long replica = 0;
    if (event.atReplica) {
      replica = (Long) Form.typed(line.get("replica"), Long.class);
      require(replicas.contains(replica), "no such replica");
      known++;
    }
    if (!own) {
      require(!event.atReplica || line.get("effects") != null, "what it sends is not shown");
      correlations.translate(line, replica, number, event.starts);
    }
    Fields input = null;
    if (event.input != null) {
      input = (Fields) Form.typed(line.get("input"), Fields.class);
      known++;
    }
    Fields message = null;
    Sent came = null;
    String identifier = null;
    if (event.message != null) {
      message = (Fields) Form.typed(line.get("message"), Fields.class);
      identifier = (String) Form.typed(message.get("id"), String.class);
      require(event.message.equals(message.get("type")), "another message");
      came = onTheirWay.get(identifier);
      require(came != null && came.receiver == replica, "a message that is not on its way");
      require(own ? came.message.equals(message) : message.isIn(came.message), "a message that was not sent so");
      known++;
    } else if (input != null && input.get("message_id") != null) {
      identifier = (String) Form.typed(input.get("message_id"), String.class);
      came = onTheirWay.get(identifier);
      require(came != null, "a message that is not on its way");
    }
    if (isThere(line, "cause")) {
      if (message == null) require(Json.same(event.cause, line.get("cause")), "another cause");
      else {
        Fields cause = (Fields) Form.typed(line.get("cause"), Fields.class);
        require(cause.size == 1 && identifier.equals(cause.get("message_id")), "another cause");
      }
      known++;
    }
    Fields crash = null;
    if (line.get("crash") != null) {
      crash = (Fields) Form.typed(line.get("crash"), Fields.class);
      require(event.atReplica && crash.size == 2, "another crash");
      known++;
    }
    now.event = bound(name, event, replica, number, input, crash, came, own ? null : answeredFetch(name, line));
    State after = successor(event, line, now);
    require(found == 1, "not one successor");
    long shown = event.atReplica ? compared(line, number, after) : comparedAnswer(line, number, after);
    if (event.atReplica) {
      if (isThere(line, "state")) known++;
      if (isThere(line, "effects")) known++;
      if (isThere(line, "refusal")) known++;
      require(Model.evaluate("LineInvariants", after, null).equals(BoolValue.ValTrue), "a property");
      require(Model.evaluate("LineSteps", now, after).equals(BoolValue.ValTrue), "a property of a step");
    } else if (line.get("answer") != null) known++;
    require(known == line.size, "a field that is not known");
    if (!own && event.others.length > 0 && (message == null || !Long.valueOf(-1).equals(message.get("diverging_epoch")))) {
      for (State other : event.others) require(leadsNowhereElse(event, line, number, other, after), "another answer");
    }
    require(number % every != 0 || holds(after), "an invariant");
    follow(event, name, came, identifier, line);
    now = after;
    newest = line;
    sequence = number;
    time = at;
    if (!own) {
      correlations.follow();
      shown |= ~event.bits & bits.all;
      if (input != null) shown |= bits.input;
      if (message != null) shown |= ofMessage(message, bits.message);
    }
    event.counts.merge(own ? bits.all | bits.anything : shown, 1, Integer::sum);
  }

  /** Is a field there that may be left out in traces of other software? */
  private boolean isThere(Fields line, String name) {
    if (line.get(name) != null) return true;
    require(!own, "a field is missing");
    return false;
  }

  private long ofMessage(Fields message, long bit) {
    int fields = message.size;
    for (String one : WHICH_MESSAGE) if (message.get(one) != null) fields--;
    return messages.get(message.get("type")).isWhole(message) ? bit | bits.anything : fields > 0 ? bits.anything : 0;
  }

  private static final String[] WHICH_MESSAGE = {"type", "source", "destination", "id", "cluster_id", "timeout_ms"};

  /** Holds what a line shows of its replica to the model; what it shows, in bits. */
  private long compared(Fields line, long number, State after) {
    long shown = 0;
    Value[] observed = ((TupleValue) Model.evaluate("Observation", after, null)).elems;
    Value[] outcome = ((TupleValue) observed[1]).elems;
    if (isThere(line, "state")) {
      Fields given = (Fields) Form.typed(line.get("state"), Fields.class);
      require(state.compared(given, observed[0]) || !own, "a field is missing");
      for (int i = 0; i < given.size; i++) shown |= bits.anything | (Long) bits.state.get(given.names[i]);
    }
    if (isThere(line, "refusal")) {
      Object refusal = line.get("refusal");
      require(!"".equals(refusal), "no such refusal");
      Value reason = Form.text(refusal == Json.NULL ? "" : (String) Form.typed(refusal, String.class));
      require(reason.equals(outcome[0]), "another refusal");
      shown |= bits.refusal | bits.anything;
    }
    if (isThere(line, "effects")) {
      Object[] given = (Object[]) Form.typed(line.get("effects"), Object[].class);
      shown |= comparedEffects(given, ((TupleValue) outcome[1]).elems, number);
    }
    return shown;
  }

  private long comparedEffects(Object[] given, Value[] expected, long number) {
    long shown = bits.sends | bits.writes | bits.anything;
    int place = 0;
    sentNow.clear();
    for (Object one : given) {
      Fields effect = (Fields) Form.typed(one, Fields.class);
      Object kind = effect.get("kind");
      if ("StartTimer".equals(kind)) {
        Object duration = effect.get("duration_ms");
        require(effect.size == 3 && timers.contains(effect.get("timer")), "no such timer");
        require(duration instanceof Long && (Long) duration >= 0, "no duration");
        continue;
      }
      require(place < expected.length, "one effect more");
      if ("Send".equals(kind)) {
        require(effect.size == 2, "another field");
        if (!sent((Fields) Form.typed(effect.get("message"), Fields.class), number, expected[place])) shown &= ~bits.sends;
      } else {
        Shown table = effects.get(kind);
        require(table != null, "no such effect");
        boolean isAnswer = "Answer".equals(kind);
        Object inner = isAnswer ? effect.get("reply") : effect;
        require(!isAnswer || effect.size == 2, "another field");
        boolean whole = table.compared((Fields) Form.typed(inner, Fields.class), expected[place]);
        require(whole || !own, "a field is missing");
        if (!whole) shown &= ~(isAnswer ? bits.sends : bits.writes);
      }
      place++;
    }
    require(place == expected.length, "an effect is missing");
    return shown;
  }

  /** Holds a message that is sent to the model's; is nothing of it left out? */
  private boolean sent(Fields message, long number, Value expected) {
    Shown table = messages.get(message.get("type"));
    require(table != null, "no such message");
    String identifier = number + "." + message.get("destination") + table.suffix;
    require(identifier.equals(message.get("id")) && sentNow.add(identifier), "another id");
    require(table.compared(message, expected) || !own, "a field is missing");
    require(!own || table.holdsAll(message), "a field is missing");
    return table.isWhole(message);
  }

  private long comparedAnswer(Fields line, long number, State after) {
    Value[] expected = ((TupleValue) ((TupleValue) Model.evaluate("NetworkObservation", after, null)).elems[1]).elems;
    if (line.get("answer") == null) {
      require(!own || expected.length == 0, "an answer is missing");
      return 0;
    }
    require(expected.length == 1, "no answer is due");
    sentNow.clear();
    Fields answer = (Fields) Form.typed(line.get("answer"), Fields.class);
    return sent(answer, number, expected[0]) ? bits.sends | bits.anything : bits.anything;
  }

  /** With other answers to decisions that are free: would the line lead to no other state than it does? */
  private boolean leadsNowhereElse(Event event, Fields line, long number, State other, State after) {
    State before = now.copy();
    before.config = other.config;
    List<State> ways = new ArrayList<>();
    State later = new State();
    Model.act(event.action, before, later, () -> ways.add(later.copy()));
    for (State way : ways) {
      try {
        if (event.atReplica) compared(line, number, way);
        else comparedAnswer(line, number, way);
      } catch (Declined differs) {
        continue;
      }
      way.config = after.config;
      way.event = after.event;
      way.observed = after.observed;
      if (!way.same(after)) return false;
    }
    return true;
  }

  /** What a line shows of the answer to the Fetch that arrives in it; null where that is no part of the event. */
  private static Value answeredFetch(String name, Fields line) {
    if (line.get("effects") == null) return null;
    Fields answer = null;
    for (Object one : (Object[]) Form.typed(line.get("effects"), Object[].class)) {
      Object message = ((Fields) Form.typed(one, Fields.class)).get("message");
      if (!(message instanceof Fields) || !"FetchResponse".equals(((Fields) message).get("type"))) continue;
      require(name.equals("HandleFetchRequest") && answer == null, "a late answer");
      answer = (Fields) message;
    }
    if (!name.equals("HandleFetchRequest")) return null;
    require(answer != null, "no answer");
    Fields request = (Fields) line.get("message");
    require(Json.same(answer.get("destination"), request.get("source")), "a late answer");
    require(Json.same(answer.get("correlation_id"), request.get("correlation_id")), "a late answer");
    Object records = answer.get("records"), error = answer.get("error"), watermark = answer.get("high_watermark");
    Value now = NOW.of(
        IntValue.gen(integer(answer.get("destination"))),
        IntValue.gen(integer(answer.get("correlation_id"))),
        IntValue.gen(records == null ? 0 : ((Object[]) Form.typed(records, Object[].class)).length),
        IntValue.gen(watermark == null ? NOT_SHOWN : integer(watermark)),
        Form.text(error == null ? "" : (String) Form.typed(error, String.class)));
    return FETCHES.of(BoolValue.ValFalse, now, new TupleValue(new Value[0]));
  }

  private static final int NOT_SHOWN = -2;
  private static final Values.Shape NOW =
      new Values.Shape("destination", "correlation_id", "records", "watermark", "error");
  private static final Values.Shape FETCHES = new Values.Shape("waits", "now", "late");

  private Value bound(
      String name, Event event, long replica, long number, Fields input, Fields crash, Sent came, Value fetches) {
    List<Value> values = new ArrayList<>(12);
    values.add(Form.text(name));
    values.add(Form.text(event.message == null ? "" : event.message));
    values.add(IntValue.gen((int) replica));
    values.add(IntValue.gen((int) number));
    values.add(IntValue.gen(crash == null ? -1 : natural(crash.get("completed"))));
    if (input != null) values.addAll(Arrays.asList(event.input.values(input)));
    if (crash != null) values.add(IntValue.gen(integer(crash.get("log_end_offset"))));
    if (fetches != null) values.add(fetches);
    if (came != null) values.add(IntValue.gen((int) came.sequence));
    if (came != null && event.message == null) {
      values.add(IntValue.gen(came.receiver));
      values.add(((String) came.message.get("id")).endsWith(SUFFIX) ? BoolValue.ValTrue : BoolValue.ValFalse);
    }
    int parts = (input == null ? 0 : 1) + (crash == null ? 0 : 2) + (fetches == null ? 0 : 4) + (came == null ? 0 : 8);
    if (event.shapes[parts] == null) event.shapes[parts] = shape(event, input, crash, came, fetches);
    return event.shapes[parts].of(values.toArray(new Value[0]));
  }

  /** The names of what {@link #bound} lists, in that order. */
  private static Values.Shape shape(Event event, Fields input, Fields crash, Sent came, Value fetches) {
    List<String> names = new ArrayList<>(List.of("name", "type", "replica", "sequence", "completed"));
    if (input != null) for (UniqueString name : event.input.names) names.add(name.toString());
    if (crash != null) names.add("log_end_offset");
    if (fetches != null) names.add("fetches");
    if (came != null) names.add("sent");
    if (came != null && event.message == null) names.addAll(List.of("destination", "change"));
    return new Values.Shape(names.toArray(new String[0]));
  }

  private static int natural(Object json) {
    int number = integer(json);
    require(number >= 0, "below 0");
    return number;
  }

  private static int integer(Object json) {
    long number = (Long) Form.typed(json, Long.class);
    require(number == (int) number, "beyond the model's integers");
    return (int) number;
  }

  private int found;

  private State successor(Event event, Fields line, State before) {
    State after = under(event.action, before);
    Object refusal = line.get("refusal");
    boolean mayBeRefused = refusal == null ? !own : refusal instanceof String && refusable.contains(refusal);
    return found == 0 && event.atReplica && mayBeRefused ? under(refuse, before) : after;
  }

  private State under(int action, State before) {
    State later = new State();
    State kept = new State();
    found = 0;
    Model.act(action, before, later, () -> {
      require(later.isWhole(), "the action leaves a variable open");
      if (found++ == 0) kept.set(later);
    });
    return kept;
  }

  private void follow(Event event, String name, Sent came, String identifier, Fields line) {
    if (came != null) {
      if (name.equals("DuplicateMessage")) came.copies++;
      else if (--came.copies == 0) onTheirWay.remove(identifier);
    }
    Fields answer = (Fields) line.get("answer");
    if (answer != null) remember((String) answer.get("id"), answer, 1);
    if (line.get("effects") == null) return;
    for (Object one : (Object[]) line.get("effects")) {
      Fields effect = (Fields) one;
      if (!"Send".equals(effect.get("kind"))) continue;
      Fields message = (Fields) effect.get("message");
      remember((String) message.get("id"), message, 1);
    }
  }

  private void remember(String identifier, Fields message, int copies) {
    int dot = identifier.indexOf('.');
    int end = identifier.indexOf('.', dot + 1);
    int receiver = Integer.parseInt(identifier.substring(dot + 1, end < 0 ? identifier.length() : end));
    onTheirWay.put(identifier, new Sent(message, Long.parseLong(identifier.substring(0, dot)), receiver, copies));
  }
}
