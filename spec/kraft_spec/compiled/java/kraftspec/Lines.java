package kraftspec;

import java.util.HashMap;
import java.util.HashSet;
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

  /** What the model has of an object, and what it has not. */
  private static final class Shown {
    final String[] fields;
    final Form[] forms;
    final UniqueString[] names;
    final Value[] constants;
    final String[] beyond;
    final Form[] held;
    final String suffix;

    /** {"fields": {field: [name in the model, form]}, "constants": {name: value}, "beyond": {field: form}} */
    Shown(Fields table) {
      Fields given = (Fields) table.get("fields"), more = (Fields) table.get("constants");
      fields = java.util.Arrays.copyOf(given.names, given.size);
      forms = new Form[given.size];
      names = new UniqueString[given.size + more.size];
      for (int i = 0; i < forms.length; i++) {
        Object[] pair = (Object[]) given.values[i];
        names[i] = UniqueString.uniqueStringOf((String) pair[0]);
        forms[i] = Form.read(pair[1]);
      }
      constants = new Value[more.size];
      for (int i = 0; i < constants.length; i++) {
        names[fields.length + i] = UniqueString.uniqueStringOf(more.names[i]);
        constants[i] = Form.constant(more.values[i]);
      }
      Fields others = (Fields) table.get("beyond");
      beyond = java.util.Arrays.copyOf(others.names, others.size);
      held = new Form[others.size];
      for (int i = 0; i < held.length; i++) held[i] = Form.read(others.values[i]);
      suffix = table.get("suffix") == null ? "" : (String) table.get("suffix");
    }

    Value[] values(Fields given) {
      if (given.size != fields.length + beyond.length) throw new Declined("other fields");
      Value[] values = new Value[names.length];
      for (int i = 0; i < fields.length; i++) values[i] = forms[i].of(there(given, fields[i]));
      for (int i = 0; i < beyond.length; i++) held[i].of(there(given, beyond[i]));
      System.arraycopy(constants, 0, values, fields.length, constants.length);
      return values;
    }

    private static Object there(Fields given, String name) {
      Object value = given.get(name);
      if (value == null) throw new Declined("a field is missing");
      return value;
    }

    Value record(Fields given) { return Form.record(names, values(given)); }
  }

  private static final class Event {
    int action;
    boolean atReplica;
    Object cause;
    String message;
    Shown input;
    UniqueString[] names;
    int count;
  }

  private final Json json = new Json();
  private final Map<String, Event> events = new HashMap<>();
  private final Map<String, Shown> messages = new HashMap<>();
  private final Map<String, Shown> effects = new HashMap<>();
  private final Set<String> timers = new HashSet<>();
  private final Set<String> refusable = new HashSet<>();
  private final Set<Long> replicas = new HashSet<>();
  private final Shown state;
  private final int start;
  private final int refuse;
  private final int every;
  private final Map<String, Sent> onTheirWay = new HashMap<>();
  private final Set<String> sentNow = new HashSet<>();

  private State now;
  private long sequence;
  private long time;

  /** How far the last call came: where in the bytes the next line begins. */
  public int position;
  /** Why it stopped there; null at the end of the bytes. */
  public String why;

  private static final String[] HEAD = {"name", "type", "replica", "sequence", "completed"};

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
    made.input = table.get("input") == Json.NULL ? null : new Shown((Fields) table.get("input"));
    return made;
  }

  /** Begins where a run begins, from the variables that are known there, or from all of them. */
  public void start(String[] names, Value[] values, String sent, long newest, long newestTime) {
    State known = State.of(names, values);
    if (!known.isWhole()) {
      now = known;
      known = under(start);
      require(found == 1, "not one first state");
    }
    begin(known, sent, newest, newestTime);
  }

  /** Begins at a state, with the messages that are on their way: [[id, copies, message], ...]. */
  public void begin(TLCState at, String sent, long newest, long newestTime) {
    begin(State.of(at), sent, newest, newestTime);
  }

  private void begin(State at, String sent, long newest, long newestTime) {
    now = at;
    sequence = newest;
    time = newestTime;
    onTheirWay.clear();
    byte[] bytes = sent.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    for (Object one : (Object[]) json.parse(bytes, 0, bytes.length)) {
      Object[] parts = (Object[]) one;
      remember((String) parts[0], (Fields) parts[2], (int) (long) (Long) parts[1]);
    }
  }

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

  public long sequence() { return sequence; }

  public long time() { return time; }

  /** How many lines of each event were accepted since this was asked last: {"Poll": 3, ...}. */
  public String counts() {
    StringBuilder text = new StringBuilder("{");
    for (Map.Entry<String, Event> one : events.entrySet()) {
      if (one.getValue().count == 0) continue;
      if (text.length() > 1) text.append(',');
      text.append('"').append(one.getKey()).append("\":").append(one.getValue().count);
      one.getValue().count = 0;
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
    long at = (Long) Form.typed(line.get("time_ms"), Long.class);
    require(number == sequence + 1 && number == (int) number && at >= time, "sequence or time");
    String name = (String) Form.typed(line.get("event"), String.class);
    Event event = events.get(name);
    require(event != null, "no such event");
    int known = 5;
    long replica = 0;
    if (event.atReplica) {
      replica = (Long) Form.typed(line.get("replica"), Long.class);
      require(replicas.contains(replica), "no such replica");
      known += 4;
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
      Fields cause = (Fields) Form.typed(line.get("cause"), Fields.class);
      require(cause.size == 1 && identifier.equals(cause.get("message_id")), "another cause");
      require(event.message.equals(message.get("type")), "another message");
      came = onTheirWay.get(identifier);
      require(came != null && came.message.equals(message) && came.receiver == replica, "a message that was not sent so");
      known++;
    } else {
      require(Json.same(event.cause, line.get("cause")), "another cause");
      if (input != null && input.get("message_id") != null) {
        identifier = (String) Form.typed(input.get("message_id"), String.class);
        came = onTheirWay.get(identifier);
        require(came != null, "a message that is not on its way");
      }
    }
    Fields crash = null;
    if (line.get("crash") != null) {
      crash = (Fields) Form.typed(line.get("crash"), Fields.class);
      require(event.atReplica && crash.size == 2, "another crash");
      known++;
    }
    sentNow.clear();
    now.event = bound(name, event, replica, number, input, crash, came);
    State after = successor(event, line);
    Fields answer = null;
    if (event.atReplica) {
      Object refusal = line.get("refusal");
      require(!"".equals(refusal), "no such refusal");
      Value reason = Form.text(refusal == Json.NULL ? "" : (String) Form.typed(refusal, String.class));
      Object[] shown = (Object[]) Form.typed(line.get("effects"), Object[].class);
      Value expected = new TupleValue(
          state.record((Fields) Form.typed(line.get("state"), Fields.class)), new TupleValue(reason, effects(shown, number)));
      require(expected.equals(Model.evaluate("Observation", after, null)), "another observation");
      require(Model.evaluate("LineInvariants", after, null).equals(BoolValue.ValTrue), "a property");
      require(Model.evaluate("LineSteps", now, after).equals(BoolValue.ValTrue), "a property of a step");
    } else {
      Value[] answers = {};
      if (line.get("answer") != null) {
        answer = (Fields) Form.typed(line.get("answer"), Fields.class);
        answers = new Value[] {sent(answer, number)};
        known++;
      }
      Value expected = new TupleValue(Form.text(""), new TupleValue(answers));
      require(expected.equals(Model.evaluate("NetworkObservation", after, null)), "another answer");
    }
    require(known == line.size, "a field that is not known, or one that is missing");
    require(number % every != 0 || holds(after), "an invariant");
    follow(event, name, came, identifier, line, answer);
    now = after;
    sequence = number;
    time = at;
    event.count++;
  }

  private Value bound(
      String name, Event event, long replica, long number, Fields input, Fields crash, Sent came) {
    Value[] given = input == null ? new Value[0] : event.input.values(input);
    int place = came == null ? 0 : event.message != null ? 1 : 3;
    UniqueString[] names = new UniqueString[HEAD.length + given.length + (crash == null ? 0 : 1) + place];
    Value[] values = new Value[names.length];
    Value[] head = {
      Form.text(name), Form.text(event.message == null ? "" : event.message), IntValue.gen((int) replica),
      IntValue.gen((int) number), IntValue.gen(crash == null ? -1 : natural(crash.get("completed"))),
    };
    for (int i = 0; i < HEAD.length; i++) {
      names[i] = UniqueString.uniqueStringOf(HEAD[i]);
      values[i] = head[i];
    }
    int at = HEAD.length;
    for (int i = 0; i < given.length; i++, at++) {
      names[at] = event.input.names[i];
      values[at] = given[i];
    }
    if (crash != null) {
      names[at] = UniqueString.uniqueStringOf("log_end_offset");
      values[at++] = IntValue.gen(integer(crash.get("log_end_offset")));
    }
    if (came != null) {
      names[at] = UniqueString.uniqueStringOf("sent");
      values[at++] = IntValue.gen((int) came.sequence);
      if (event.message == null) {
        names[at] = UniqueString.uniqueStringOf("destination");
        values[at++] = IntValue.gen(came.receiver);
        names[at] = UniqueString.uniqueStringOf("change");
        values[at] = ((String) came.message.get("id")).endsWith(SUFFIX) ? BoolValue.ValTrue : BoolValue.ValFalse;
      }
    }
    return Form.record(names, values);
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

  private State successor(Event event, Fields line) {
    State after = under(event.action);
    Object refusal = line.get("refusal");
    if (found == 0 && refusal instanceof String && refusable.contains(refusal)) after = under(refuse);
    require(found == 1, "not one successor");
    return after;
  }

  private State under(int action) {
    State later = new State();
    State kept = new State();
    found = 0;
    Model.act(action, now, later, () -> {
      require(later.isWhole(), "the action leaves a variable open");
      if (found++ == 0) kept.set(later);
    });
    return kept;
  }

  private Value effects(Object[] shown, long number) {
    Value[] values = new Value[shown.length];
    int size = 0;
    for (Object one : shown) {
      Fields effect = (Fields) Form.typed(one, Fields.class);
      Object kind = effect.get("kind");
      if ("Send".equals(kind)) {
        require(effect.size == 2, "another field");
        values[size++] = sent((Fields) Form.typed(effect.get("message"), Fields.class), number);
      } else if ("StartTimer".equals(kind)) {
        Object duration = effect.get("duration_ms");
        require(effect.size == 3 && timers.contains(effect.get("timer")), "no such timer");
        require(duration instanceof Long && (Long) duration >= 0, "no duration");
      } else {
        Shown table = effects.get(kind);
        require(table != null, "no such effect");
        Object inner = "Answer".equals(kind) ? effect.get("reply") : effect;
        require(inner == effect || effect.size == 2, "another field");
        values[size++] = table.record((Fields) Form.typed(inner, Fields.class));
      }
    }
    return new TupleValue(java.util.Arrays.copyOf(values, size));
  }

  private Value sent(Fields message, long number) {
    Shown table = messages.get(message.get("type"));
    require(table != null, "no such message");
    String expected = number + "." + message.get("destination") + table.suffix;
    require(expected.equals(message.get("id")) && sentNow.add(expected), "another id");
    return table.record(message);
  }

  private void follow(Event event, String name, Sent came, String identifier, Fields line, Fields answer) {
    if (came != null) {
      if (name.equals("DuplicateMessage")) came.copies++;
      else if (--came.copies == 0) onTheirWay.remove(identifier);
    }
    if (answer != null) remember((String) answer.get("id"), answer, 1);
    if (!event.atReplica) return;
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
