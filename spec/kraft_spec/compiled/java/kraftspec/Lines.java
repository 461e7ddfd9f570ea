package kraftspec;

import static kraftspec.Json.require;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kraftspec.Flights.Sent;
import kraftspec.Json.Fields;
import tlc2.tool.TLCState;
import tlc2.value.impl.Value;

/**
 * The fast path: lines of a trace from their bytes to states of the compiled model, as long as each is right.
 *
 * <p>It accepts a line or declines it; it never rejects one. What it declines, the other checker judges, from the
 * states before that line. What a line may hold comes from the tables that it is made with.
 */
public final class Lines {
  private final Json json = new Json();
  private final boolean own;
  private final Map<String, Event> events = new HashMap<>();
  private final Set<Long> replicas = new HashSet<>();
  private final int every;
  private final Correlations correlations;
  private final Opaque opaque = new Opaque();
  private final Flights flights = new Flights(opaque);
  private final Writes writes = new Writes();
  private final Comparison comparison;
  private final Candidates candidates;

  private State opening;
  private byte[] bytes = {};
  private Fields newest;
  private long sequence;
  private long time;

  /** How far the last call came: where in the bytes the next line begins. */
  public int position;
  /** Why it stopped there; null at the end of the bytes. */
  public String why;

  /** Made for one trace; the tables are those that kraft_traces.check.fast writes. */
  public Lines(String tables) {
    Fields given = (Fields) parsed(tables);
    own = (Boolean) given.get("own");
    Map<String, Integer> actions = new HashMap<>();
    for (int i = 0; i < Model.ACTIONS.length; i++) actions.put(Model.ACTIONS[i], i);
    Fields table = (Fields) given.get("events");
    for (int i = 0; i < table.size; i++) {
      events.put(table.names[i], new Event(table.names[i], (Fields) table.values[i], actions));
    }
    for (Object one : (Object[]) given.get("replicas")) replicas.add((Long) one);
    every = (int) (long) (Long) given.get("every");
    correlations = own ? null : new Correlations((int) (long) (Long) given.get("remembered"));
    comparison = new Comparison(given, own);
    candidates = new Candidates(given, comparison, actions, writes, own);
  }

  /**
   * The event may ask for decisions that are free: a configuration with other answers, and these answers, in bits. It
   * asks a replica that has this role after it, or any if that is null.
   */
  public void decision(String event, String role, Value configuration, long answers) {
    events.get(event).roleThatAsks = role;
    events.get(event).others.add(new Event.Other(configuration, answers));
  }

  /** The variables that are known where a run begins, or all of them. */
  public void opening(String[] names, Value[] values) { opening = State.of(names, values); }

  /** Begins there; the rest is as for {@link #begin}. */
  public void start(String sent, String known, String synced, String opaqueNow, long newest, long newestTime) {
    candidates.start(opening.copy());
    begin(sent, known, synced, opaqueNow, newest, newestTime);
  }

  /**
   * Begins at these states, each with the answers that led to it, with the messages that are on their way, for {@link
   * Flights}, with the correlation ids that are known, for {@link Correlations}, with the ends of synced logs, for {@link
   * Writes}, and the replicas that are not observed, for {@link Opaque}. The lines before have left so many states {@code besides} one.
   */
  public void begin(
      TLCState[] at,
      long[] answers,
      long besides,
      String sent,
      String known,
      String synced,
      String opaqueNow,
      long newest,
      long newestTime) {
    candidates.begin(at, answers, besides);
    begin(sent, known, synced, opaqueNow, newest, newestTime);
  }

  private void begin(String sent, String known, String synced, String opaqueNow, long newest, long newestTime) {
    sequence = newest;
    time = newestTime;
    writes.begin((Fields) parsed(synced));
    opaque.begin((Fields) parsed(opaqueNow));
    flights.begin((Object[]) parsed(sent));
    if (!own) correlations.begin((Object[]) parsed(known));
  }

  private Object parsed(String text) {
    byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return json.parse(bytes, 0, bytes.length);
  }

  /**
   * The states that the accepted lines, or those {@code before} the newest, may have led to; {@code like} says which
   * variables there are.
   */
  public TLCState[] states(TLCState like, boolean before) { return candidates.states(like, before); }

  /** The answers that led to each of them, where those of the configuration did not, in bits. */
  public long[] answers(boolean before) { return candidates.answers(before); }

  /** The most states at one line since this was asked last. */
  public int widest() { return candidates.widest(); }

  /** How many states beside one the lines so far have left, all of them together. */
  public long besides() { return candidates.besides(); }

  /** Do all invariants hold after the last accepted line? */
  public boolean holds() { return candidates.hold(); }

  /** The correlation ids that are known, as {@link #begin} takes them. */
  public String known() { return own ? "null" : correlations.text(); }

  /** The ends of synced logs after the newest line, or {@code before} it, as {@link #begin} takes them. */
  public String synced(boolean before) { return writes.text(before); }

  /** How many copies of which message are on their way: {id: copies, ...}. */
  public String copies() { return flights.copies(); }

  /** The messages on their way, as {@link #begin} takes them. */
  public String sent() { return flights.text(); }

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
    for (Event event : events.values()) {
      if (event.counts.isEmpty()) continue;
      if (text.length() > 1) text.append(',');
      text.append('"').append(event.name).append("\":{");
      String comma = "";
      for (Map.Entry<Long, Integer> count : event.counts.entrySet()) {
        text.append(comma).append('"').append(count.getKey()).append("\":").append(count.getValue());
        comma = ",";
      }
      text.append('}');
      event.counts.clear();
    }
    return text.append('}').toString();
  }

  /**
   * Takes lines from the first bytes of a buffer, each with its newline, up to the first that is declined; how many
   * were accepted.
   */
  public int feed(ByteBuffer given, int size, int most) {
    if (bytes.length < size) bytes = new byte[size];
    given.get(0, bytes, 0, size);
    int accepted = 0;
    position = 0;
    why = null;
    while (position < size && accepted < most) {
      try {
        Fields line = Form.typed(json.parse(bytes, position, size), Fields.class);
        require(json.end() < size, "a line without its newline");
        accept(line);
      } catch (RuntimeException declined) {
        why = String.valueOf(declined.getMessage());
        return accepted;
      }
      accepted++;
      position = json.end() + 1;
    }
    return accepted;
  }

  private void accept(Fields line) {
    require("event".equals(line.get("kind")), "no event");
    long number = Form.typed(line.get("sequence"), Long.class);
    require(number == sequence + 1 && number == (int) number, "another sequence");
    Event event = events.get(Form.typed(line.get("event"), String.class));
    require(event != null, "no such event");
    int known = 3;
    long at = time;
    if (comparison.isThere(line, "time_ms")) {
      at = Form.typed(line.get("time_ms"), Long.class);
      require(at >= time, "an earlier time");
      known++;
    }
    long replica = 0;
    if (event.atReplica) {
      replica = Form.typed(line.get("replica"), Long.class);
      require(replicas.contains(replica) && !opaque.isOpaque(replica), "no such replica");
      known++;
    }
    boolean unsent = false;
    if (!own) {
      require(!event.atReplica || line.get("effects") != null, "what it sends is not shown");
      if (event.message != null) {
        Fields received = Form.typed(line.get("message"), Fields.class);
        unsent = opaque.isUnsent(received, replica, correlations);
        if (unsent) {
          require(line.get("cause") == null, "a cause without an id");
          if (Long.valueOf(0).equals(received.get("high_watermark"))) received.set("high_watermark", -1L);
        }
      }
      boolean anew = unsent && opaque.isOpaque(((Fields) line.get("message")).get("source"));
      correlations.translate(line, replica, number, event.starts, unsent, anew);
    }
    Fields input = null;
    if (event.defaults != null && line.get("input") == null) {
      input = event.defaults;
    } else if (event.input != null) {
      input = Form.typed(line.get("input"), Fields.class);
      known++;
    }
    Fields message = null;
    Sent came = null;
    String identifier = null;
    Value unsentBound = null;
    if (unsent) {
      message = (Fields) line.get("message");
      require(event.message.equals(message.get("type")), "another message");
      require(Long.valueOf(replica).equals(message.get("destination")), "another receiver");
      came = Flights.unsent(message, number, (int) replica);
      unsentBound = Event.unsent(number, comparison.message(message));
      known++;
    } else if (event.message != null) {
      message = Form.typed(line.get("message"), Fields.class);
      identifier = Form.typed(message.get("id"), String.class);
      require(event.message.equals(message.get("type")), "another message");
      came = flights.get(identifier);
      require(came != null && came.receiver == replica, "a message that is not on its way");
      require(own ? came.message.equals(message) : message.isIn(came.message), "a message that was not sent so");
      known++;
    } else if (input != null && input.get("message_id") != null) {
      identifier = Form.typed(input.get("message_id"), String.class);
      came = flights.get(identifier);
      require(came != null, "a message that is not on its way");
    }
    if (comparison.isThere(line, "cause")) {
      if (message == null) require(Json.same(event.cause, line.get("cause")), "another cause");
      else {
        Fields cause = Form.typed(line.get("cause"), Fields.class);
        require(cause.size == 1 && identifier.equals(cause.get("message_id")), "another cause");
      }
      known++;
    }
    Fields crash = null;
    if (line.get("crash") != null) {
      crash = Form.typed(line.get("crash"), Fields.class);
      require(event.atReplica && crash.size == 2, "another crash");
      known++;
    }
    for (String shown : event.atReplica ? SHOWN_OF_REPLICA : SHOWN_OF_NETWORK) if (line.get(shown) != null) known++;
    require(known == line.size, "a field that is not known");
    Value bound = event.bound(replica, number, input, crash, came, own ? null : event.answeredFetch(line));
    if (!own && event.atReplica) require(!writes.loses(event, line, replica), "less on disk than was synced");
    List<Candidates.Candidate> next = candidates.after(event, line, replica, number, unsentBound, bound);
    require(number % every != 0 || candidates.hold(next), "an invariant");

    long shown = comparison.shown(event, candidates.shown(), input, message);
    event.counts.merge(shown, 1, Integer::sum);
    flights.follow(event.name, came, identifier, line);
    if (!own) {
      correlations.follow();
      writes.follow(event, line, replica, candidates.form());
    }
    candidates.follow(next);
    newest = line;
    sequence = number;
    time = at;
  }

  private static final String[] SHOWN_OF_REPLICA = {"state", "effects", "refusal"};
  private static final String[] SHOWN_OF_NETWORK = {"answer"};
}
