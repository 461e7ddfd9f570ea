package kraftspec;

import static kraftspec.Json.require;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kraftspec.Json.Fields;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.Value;

/**
 * Lines of other software in normal form, as kraft_traces.check.writes and kraft_traces.alternatives.writes have them.
 *
 * <p>A replica may sync its log earlier than the model, write its quorum state in portions, and leave out a leader's
 * vote for itself. Lines with a truncation, a snapshot, a crash or effects in another order have no form here.
 */
final class Writes {
  /** A line in normal form, with the disk of its replica. */
  static final class InForm {
    final Fields line;
    private final Object[] effects;
    /** End of the synced log before the line, and after it. */
    private final long syncedBefore, syncedAfter;
    private final boolean hidesSyncs;

    private InForm(Fields line, Object[] effects, long syncedBefore, boolean hidesSyncs) {
      this.line = line;
      this.effects = effects;
      this.syncedBefore = syncedBefore;
      this.syncedAfter = syncedAfter(effects, syncedBefore);
      this.hidesSyncs = hidesSyncs;
    }

    boolean same(InForm other) {
      return Json.same(line, other.line) && Json.same(effects, other.effects) && syncedBefore == other.syncedBefore;
    }

    /** The effects other than syncs. */
    Object[] effects() { return Arrays.stream(effects).filter(one -> !isKind(one, SYNC)).toArray(); }

    /** The model's effects other than syncs; each of these syncs is done by the end of the line. */
    Value[] expected(Value[] all) {
      List<Value> others = new ArrayList<>(all.length);
      for (Value one : all) {
        if (!((StringValue) TYPE.of(one)).val.toString().equals(SYNC)) others.add(one);
        else require(Values.number(END_OFFSET.of(one)) <= syncedAfter, "a sync is missing");
      }
      return others.toArray(new Value[0]);
    }

    /** The state of the line, with the model's end of the synced log in place of another allowed one. */
    Fields state(Fields state, Value expected) {
      if (!(state.get("flushed_offset") instanceof Long)) return state;
      long synced = (Long) state.get("flushed_offset"), end = Values.number(LOG_END_OFFSET.of(expected));
      long flushed = Values.number(FLUSHED_OFFSET.of(expected)), most = hidesSyncs ? end : syncedAfter;
      boolean allowed = flushed <= syncedAfter && syncedAfter <= synced && synced <= most && most <= end;
      return allowed ? state.with("flushed_offset", flushed) : state;
    }
  }

  /** Contents of the quorum state file; the version is null if it is not known. */
  private record QuorumFile(Object epoch, Object leader, Object voted, Object version) {
    static QuorumFile of(Object effect) {
      Fields file = (Fields) effect;
      return new QuorumFile(file.get("epoch"), file.get("leader_id"), file.get("voted_key"), file.get("version"));
    }

    boolean holds(QuorumFile wanted) {
      Object vote = wanted.voted;
      boolean forgets = ZERO.equals(version) || ZERO.equals(wanted.version);
      if (forgets && voted instanceof Fields && vote instanceof Fields) {
        vote = ((Fields) vote).with("directory_id", ((Fields) voted).get("directory_id"));
      }
      boolean same = Json.same(epoch, wanted.epoch) && Json.same(leader, wanted.leader) && Json.same(voted, vote);
      return same && Json.same(version, wanted.version);
    }

    /** Is each value of this write that of the whole write, or that of the file before it? */
    boolean isPortion(QuorumFile whole, QuorumFile before) {
      if (!Json.same(epoch, whole.epoch) || !Json.same(version, whole.version)) return false;
      boolean goesOn = Json.same(before.epoch, epoch);
      return isOneOf(leader, goesOn ? before.leader : Json.NULL, whole.leader)
          && isOneOf(voted, goesOn ? before.voted : Json.NULL, whole.voted);
    }

    private static boolean isOneOf(Object value, Object one, Object other) {
      return Json.same(value, one) || Json.same(value, other);
    }
  }

  private static final String SYNC = "FlushLog", FILE = "PersistQuorumState", APPEND = "AppendRecords";
  private static final String TRUNCATION = "TruncateLog", SNAPSHOT = "WriteSnapshot";
  private static final Set<Object> OUTBOUND = Set.of("Send", "Answer");
  private static final Long ZERO = 0L;
  private static final Values.Field TYPE = new Values.Field("type"), END_OFFSET = new Values.Field("end_offset");
  private static final Values.Field LOG_END_OFFSET = new Values.Field("log_end_offset");
  private static final Values.Field FLUSHED_OFFSET = new Values.Field("flushed_offset");
  private static final Values.Field EPOCH = new Values.Field("epoch"), LEADER = new Values.Field("leader_id");
  private static final Values.Field VOTED = new Values.Field("voted_key"), KEY = new Values.Field("replica_key");
  private static final Values.Field VERSION = new Values.Field("quorum_state_version");
  private static final Values.Field FLUSHED = new Values.Field("flushed"), LOG = new Values.Field("log");
  private static final Values.Field BASE = new Values.Field("base");
  private static final Values.Field ID = new Values.Field("id"), DIRECTORY = new Values.Field("directory_id");

  private final Map<Long, Long> ends = new TreeMap<>();
  private final Set<Long> hidesSyncs = new TreeSet<>();
  private Map<Long, Long> endsBefore = Map.of();

  /** {"ends": [[replica, end of the synced log], ...], "hides_syncs": [replica, ...]} */
  void begin(Fields known) {
    ends.clear();
    hidesSyncs.clear();
    for (Object pair : (Object[]) known.get("ends")) ends.put((Long) ((Object[]) pair)[0], (Long) ((Object[]) pair)[1]);
    for (Object replica : (Object[]) known.get("hides_syncs")) hidesSyncs.add((Long) replica);
    endsBefore = Map.copyOf(ends);
  }

  /** What {@link #begin} takes, after the newest line or {@code before} it. */
  String text(boolean before) {
    StringBuilder text = new StringBuilder("{\"ends\":[");
    String comma = "";
    for (Map.Entry<Long, Long> end : new TreeMap<>(before ? endsBefore : ends).entrySet()) {
      text.append(comma).append('[').append(end.getKey()).append(',').append(end.getValue()).append(']');
      comma = ",";
    }
    return text.append("],\"hides_syncs\":").append(hidesSyncs).append('}').toString();
  }

  /** Is less on disk after the line than its replica had synced? */
  boolean loses(Event event, Fields line, long replica) {
    if (!ends.containsKey(replica)) return false;
    Object kept = null;
    if (line.get("crash") != null) kept = ((Fields) line.get("crash")).get("log_end_offset");
    else if (event.name.equals("Crash")) kept = ((Fields) line.get("input")).get("log_end_offset");
    else if (!startsAnew(event) && line.get("state") != null) kept = ((Fields) line.get("state")).get("flushed_offset");
    return kept != null && Form.integer(kept) < syncedAfter((Object[]) line.get("effects"), ends.get(replica));
  }

  /** The line is accepted, in this form if that is not null. */
  void follow(Event event, Fields line, long replica, InForm form) {
    Long end = !event.atReplica ? null : form == null ? ends.get(replica) : Long.valueOf(form.syncedBefore);
    endsBefore = end == null ? ends : Map.copyOf(ends);
    if (end == null) return;
    if (startsAnew(event) || line.get("crash") != null) {
      ends.remove(replica);
      return;
    }
    long synced = syncedAfter((Object[]) line.get("effects"), end);
    Object recorded = line.get("state") == null ? null : ((Fields) line.get("state")).get("flushed_offset");
    ends.put(replica, recorded instanceof Long ? Math.max(synced, (Long) recorded) : synced);
  }

  private static boolean startsAnew(Event event) {
    return event.name.equals("Crash") || event.name.equals("ReplaceDisk");
  }

  private static boolean isKind(Object effect, String kind) { return kind.equals(((Fields) effect).get("kind")); }

  private static long syncedAfter(Object[] effects, long before) {
    long synced = before;
    for (Object one : effects) {
      if (isKind(one, SYNC)) synced = Math.max(synced, end(one));
      else if (isKind(one, TRUNCATION)) synced = Math.min(synced, end(one));
      else if (isKind(one, SNAPSHOT)) {
        long end = end(Form.typed(((Fields) one).get("snapshot"), Fields.class));
        synced = Boolean.TRUE.equals(((Fields) one).get("replaces_log")) ? end : Math.max(synced, end);
      }
    }
    return synced;
  }

  private static long end(Object effect) { return Form.integer(((Fields) effect).get("end_offset")); }

  /**
   * The line in normal form, from a state before it.
   *
   * @throws Json.Declined it has none here
   */
  InForm inForm(Event event, Fields line, long replica, State before) {
    require(line.get("crash") == null, "a crash in another form");
    Value known = Values.at(before.replicas, (int) replica);
    Fields vote = impliedVote(event, known);
    Fields form = line;
    if (line.get("state") != null) form = form.with("state", withVote((Fields) line.get("state"), vote));
    long synced = Math.max(Values.number(FLUSHED.of(known)), ends.getOrDefault(replica, 0L));
    Object[] effects = ordered(joined((Object[]) line.get("effects"), vote, fileOf(known), synced));
    checkSyncs(effects, Values.number(END_OFFSET.of(BASE.of(known))) + Values.length(LOG.of(known)));
    return new InForm(form, effects, synced, hidesSyncs.contains(replica));
  }

  private static QuorumFile fileOf(Value replica) {
    long leader = Values.number(LEADER.of(replica));
    long version = Values.number(VERSION.of(replica));
    return new QuorumFile(
        (long) Values.number(EPOCH.of(replica)), leader < 0 ? Json.NULL : leader, key(VOTED.of(replica)), version);
  }

  private static Object key(Value key) {
    long id = Values.number(ID.of(key));
    if (id < 0) return Json.NULL;
    String directory = ((StringValue) DIRECTORY.of(key)).val.toString();
    return Fields.of(new String[] {"id", "directory_id"}, id, directory.isEmpty() ? Json.NULL : directory);
  }

  private static Fields impliedVote(Event event, Value replica) {
    Fields own = (Fields) key(KEY.of(replica));
    Object voted = key(VOTED.of(replica));
    Fields vote = voted instanceof Fields && Json.same(((Fields) voted).get("id"), own.get("id")) ? (Fields) voted : own;
    boolean forgets = event.name.equals("Restart") && Values.number(VERSION.of(replica)) == 0;
    return forgets ? vote.with("directory_id", Json.NULL) : vote;
  }

  /** A state or a file with the vote for itself that a leader leaves out. */
  private static Fields withVote(Fields given, Fields vote) {
    boolean leavesOut = given.get("voted_key") == Json.NULL && vote.get("id").equals(given.get("leader_id"));
    return leavesOut ? given.with("voted_key", vote) : given;
  }

  /** The effects without those that change nothing, and with portions joined. */
  private static List<Object> joined(Object[] effects, Fields vote, QuorumFile onDisk, long syncedBefore) {
    List<Object> form = new ArrayList<>();
    List<QuorumFile> filesBefore = new ArrayList<>();
    QuorumFile file = onDisk;
    long synced = syncedBefore;
    for (Object given : effects) {
      Object effect = given;
      if (isKind(effect, FILE)) {
        effect = withVote((Fields) effect, vote);
        QuorumFile written = QuorumFile.of(effect);
        require(written.version != null, "a quorum state without its version");
        if (file.holds(written)) continue;
        filesBefore.add(file);
        file = written;
        form.add(effect);
        dropPortions(form, filesBefore);
      } else if (isKind(effect, SYNC)) {
        if (end(effect) <= synced) continue;
        synced = end(effect);
        form.removeIf(one -> isKind(one, SYNC));
        form.add(effect);
      } else {
        require(!isKind(effect, TRUNCATION) && !isKind(effect, SNAPSHOT), "a change of the log in another form");
        if (!isKind(effect, APPEND) || !join((Fields) effect, form)) form.add(effect);
      }
    }
    return form;
  }

  private static void dropPortions(List<Object> form, List<QuorumFile> filesBefore) {
    List<Object> writes = new ArrayList<>();
    for (Object one : form) if (isKind(one, FILE)) writes.add(one);
    Object last = writes.remove(writes.size() - 1);
    for (int i = 0; i < writes.size(); i++) {
      if (!QuorumFile.of(writes.get(i)).isPortion(QuorumFile.of(last), filesBefore.get(i))) return;
    }
    form.removeIf(one -> one != last && isKind(one, FILE));
    filesBefore.subList(1, filesBefore.size()).clear();
  }

  /** Join records with the earlier append of the line that they continue. */
  private static boolean join(Fields effect, List<Object> form) {
    for (int i = form.size() - 1; i >= 0; i--) {
      if (!isKind(form.get(i), APPEND)) continue;
      Fields earlier = (Fields) form.get(i);
      Object[] first = (Object[]) earlier.get("records"), more = (Object[]) effect.get("records");
      if (Form.integer(effect.get("base_offset")) != Form.integer(earlier.get("base_offset")) + first.length) return false;
      Object[] all = Arrays.copyOf(first, first.length + more.length);
      System.arraycopy(more, 0, all, first.length, more.length);
      form.set(i, earlier.with("records", all));
      return true;
    }
    return false;
  }

  /** The effects in the model's order: the quorum state, the log, messages and replies, timers. */
  private static Object[] ordered(List<Object> effects) {
    boolean sends = false, appends = false;
    for (Object one : effects) {
      require(!(sends && (isKind(one, FILE) || isKind(one, SYNC))), "a message before a write");
      require(!(appends && isKind(one, FILE)), "records before the quorum state");
      sends |= OUTBOUND.contains(((Fields) one).get("kind"));
      appends |= isKind(one, APPEND);
    }
    Object[] ordered = effects.toArray();
    Arrays.sort(ordered, java.util.Comparator.comparingInt(Writes::group));
    return ordered;
  }

  private static int group(Object effect) {
    Object kind = ((Fields) effect).get("kind");
    return FILE.equals(kind) ? 0 : SYNC.equals(kind) || APPEND.equals(kind) ? 1 : OUTBOUND.contains(kind) ? 2 : 3;
  }

  private static void checkSyncs(Object[] effects, long logEnd) {
    long end = logEnd;
    for (Object one : effects) {
      if (isKind(one, SYNC)) require(end(one) <= end, "a sync beyond the end of the log");
      if (isKind(one, APPEND)) {
        end = Form.integer(((Fields) one).get("base_offset")) + ((Object[]) ((Fields) one).get("records")).length;
      }
    }
  }
}
