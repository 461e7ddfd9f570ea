package kraftspec;

import static kraftspec.Json.require;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import kraftspec.Json.Declined;
import kraftspec.Json.Fields;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;

/** What a line shows against what the model has, and which fields it shows, a bit for each that is counted. */
final class Comparison {
  private static final String[] WHICH_MESSAGE = {"type", "source", "destination", "id", "cluster_id", "timeout_ms"};

  private static final String FETCH_SUFFIX = ".fetch";

  private final boolean own;
  private final Shown state;
  private final Map<String, Shown> messages;
  private final Map<String, Shown> effects;
  private final Set<String> timers = new HashSet<>();
  private final Set<String> sentNow = new HashSet<>();
  private final long allBits, anythingBit, messageBit, inputBit, sendsBit, writesBit, refusalBit;
  private final Fields stateBits;

  /** From the tables of a trace; its own lines leave nothing out. */
  Comparison(Fields tables, boolean own) {
    this.own = own;
    state = new Shown((Fields) tables.get("state"));
    messages = shown((Fields) tables.get("messages"));
    effects = shown((Fields) tables.get("effects"));
    for (Object one : (Object[]) tables.get("timers")) timers.add((String) one);
    Fields bits = (Fields) tables.get("bits");
    allBits = (Long) bits.get("all");
    anythingBit = (Long) bits.get("anything");
    messageBit = (Long) bits.get("message");
    inputBit = (Long) bits.get("input");
    sendsBit = (Long) bits.get("sends");
    writesBit = (Long) bits.get("writes");
    refusalBit = (Long) bits.get("refusal");
    stateBits = (Fields) bits.get("state");
  }

  private static Map<String, Shown> shown(Fields table) {
    Map<String, Shown> found = new HashMap<>();
    for (int i = 0; i < table.size; i++) found.put(table.names[i], new Shown((Fields) table.values[i]));
    return found;
  }

  /** The model's value of a message that no line sends. */
  Value message(Fields message) {
    Shown table = messages.get(message.get("type"));
    require(table != null, "no such message");
    return table.record(table.stated(message));
  }

  /** Is a field there that may be left out in traces of other software? */
  boolean isThere(Fields line, String name) {
    if (line.get(name) != null) return true;
    require(!own, "a field is missing");
    return false;
  }

  /** What a line shows: the bits of its comparison, and those of what came with it, which may be null. */
  long shown(Event event, long compared, Fields input, Fields message) {
    if (own) return allBits | anythingBit;
    long shown = compared | ~event.bits & allBits;
    if (input != null) shown |= inputBit;
    return message == null ? shown : shown | ofMessage(message);
  }

  private long ofMessage(Fields message) {
    if (messages.get(message.get("type")).isWhole(message)) return messageBit | anythingBit;
    int fields = message.size;
    for (String one : WHICH_MESSAGE) if (message.get(one) != null) fields--;
    return fields > 0 ? anythingBit : 0;
  }

  /**
   * Holds what a line shows to the state after it; what it shows, in bits.
   *
   * @throws Declined it differs
   */
  long compared(Event event, Fields line, long number, State after) {
    return event.atReplica ? ofReplica(line, number, after, null) : ofNetwork(line, number, after);
  }

  /** As {@link #compared}, of a replica's line in normal form. */
  long comparedInForm(Writes.InForm form, long number, State after) {
    return ofReplica(form.line, number, after, form);
  }

  private long ofReplica(Fields line, long number, State after, Writes.InForm form) {
    long shown = 0;
    Value[] observed = ((TupleValue) Model.evaluate("Observation", after, null)).elems;
    Value[] outcome = ((TupleValue) observed[1]).elems;
    if (isThere(line, "state")) {
      Fields given = Form.typed(line.get("state"), Fields.class);
      if (form != null) given = form.state(given, observed[0]);
      require(state.compared(given, observed[0]) || !own, "a field is missing");
      for (int i = 0; i < given.size; i++) shown |= anythingBit | (Long) stateBits.get(given.names[i]);
    }
    if (isThere(line, "refusal")) {
      Object refusal = line.get("refusal");
      require(!"".equals(refusal), "no such refusal");
      Value reason = Form.text(refusal == Json.NULL ? "" : Form.typed(refusal, String.class));
      require(reason.equals(outcome[0]), "another refusal");
      shown |= refusalBit | anythingBit;
    }
    if (isThere(line, "effects")) {
      Value[] expected = ((TupleValue) outcome[1]).elems;
      Object[] given = form == null ? Form.typed(line.get("effects"), Object[].class) : form.effects();
      shown |= ofEffects(given, form == null ? expected : form.expected(expected), number);
    }
    return shown;
  }

  private long ofEffects(Object[] given, Value[] expected, long number) {
    long shown = sendsBit | writesBit | anythingBit;
    int place = 0;
    sentNow.clear();
    for (Object one : given) {
      Fields effect = Form.typed(one, Fields.class);
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
        if (!sent(Form.typed(effect.get("message"), Fields.class), number, expected[place])) shown &= ~sendsBit;
      } else {
        Shown table = effects.get(kind);
        require(table != null, "no such effect");
        boolean isAnswer = "Answer".equals(kind);
        Object inner = isAnswer ? effect.get("reply") : effect;
        require(!isAnswer || effect.size == 2, "another field");
        boolean whole = table.compared(Form.typed(inner, Fields.class), expected[place]);
        require(whole || !own, "a field is missing");
        if (!whole) shown &= ~(isAnswer ? sendsBit : writesBit);
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
    Object shown = message.get("id");
    if ("FetchResponse".equals(message.get("type")) && (identifier + FETCH_SUFFIX).equals(shown)) {
      identifier += FETCH_SUFFIX;
    }
    require(identifier.equals(shown) && sentNow.add(identifier), "another id");
    require(table.compared(message, expected) || !own, "a field is missing");
    require(!own || table.holdsAll(message), "a field is missing");
    return table.isWhole(message);
  }

  private long ofNetwork(Fields line, long number, State after) {
    Value[] expected = ((TupleValue) ((TupleValue) Model.evaluate("NetworkObservation", after, null)).elems[1]).elems;
    if (line.get("answer") == null) {
      require(!own || expected.length == 0, "an answer is missing");
      return 0;
    }
    require(expected.length == 1, "no answer is due");
    sentNow.clear();
    Fields answer = Form.typed(line.get("answer"), Fields.class);
    return sent(answer, number, expected[0]) ? sendsBit | anythingBit : anythingBit;
  }
}
