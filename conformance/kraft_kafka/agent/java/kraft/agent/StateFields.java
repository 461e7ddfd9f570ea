package kraft.agent;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/** The state of a replica, by the names of kraft-trace/1: a line has the fields that differ from the line before. */
final class StateFields {
    private static final Object UNWRITTEN = new Object();
    private static final List<Integer> NO_VOTES = List.of();

    private final Object log;
    private final Object listener;
    /** Kafka's values, as they were written last. */
    private final Object[] last = new Object[17];
    private int index;

    StateFields(Object log, Object listener) {
        this.log = log;
        this.listener = listener;
        forget();
    }

    /** Make the next line have all fields. */
    void forget() {
        java.util.Arrays.fill(last, UNWRITTEN);
    }

    /** Add the object `state`, unless no field differs, or the replica has no state yet. */
    void put(Line line, Object client) {
        Object quorum = Members.get(client, "quorum");
        Object role = quorum == null ? null : Members.get(quorum, "state");
        if (role == null) {
            return;
        }
        line.open("state");
        Object control = Members.get(client, "partitionState");
        long start = Members.number(log, "startOffset");
        index = 0;
        simple(line, "role", Members.call(role, "name"));
        simple(line, "epoch", Members.call(role, "epoch"));
        simple(line, "leader_id", Members.content(Members.call(quorum, "leaderId")));
        Object endpoints = Members.call(quorum, "leaderEndpoints");
        if (differs(endpoints)) {
            line.put("leader_endpoint", Shown.address(endpoints, listener));
        }
        if (Members.has(quorum, "votedKey", 0)) {
            Object voted = Members.content(Members.call(quorum, "votedKey"));
            if (differs(voted)) {
                line.put("voted_key", Shown.key(voted));
            }
        }
        simple(line, "log_end_offset", Disk.end(log));
        simple(line, "last_epoch", Members.call(log, "lastFetchedEpoch"));
        simple(line, "log_start_offset", start);
        Object highWatermark = Members.content(Members.call(quorum, "highWatermark"));
        simple(line, "high_watermark", highWatermark == null ? -1L : Shown.offset(highWatermark));
        putVoters(line, control, start);
        simple(line, "kraft_version", Members.call(Members.call(control, "lastKraftVersion"), "featureLevel"));
        Object votes = !isNominee(role) ? null
                : Members.has(role, "epochElection", 0) ? Members.call(role, "epochElection") : role;
        simple(line, "granted", votes(votes, "grantingVoters"));
        simple(line, "rejected", votes(votes, "rejectingVoters"));
        if (Members.hasField(role, "hasFetchedFromLeader")) {
            simple(line, "fetched", Members.get(role, "hasFetchedFromLeader"));
        } else {
            // It is written again after the next change of the role.
            last[index++] = UNWRITTEN;
        }
        line.close();
    }

    private void putVoters(Line line, Object control, long start) {
        Object votersAt = Members.content(Members.call(control, "lastVoterSetOffset"));
        // A snapshot replaces the record: the voter set then begins at the snapshot's last offset.
        Long offset = Math.max(votersAt == null ? -1 : (Long) votersAt, start - 1);
        Object voters = Members.call(control, "lastVoterSet");
        boolean isNew = differs(offset);
        if (differs(voters) || isNew) {
            Map<String, Object> shown = new LinkedHashMap<>();
            shown.put("offset", offset);
            shown.put("voters", Shown.keys(voters));
            line.put("voters", shown);
        }
    }

    private void simple(Line line, String name, Object value) {
        if (differs(value)) {
            line.put(name, value);
        }
    }

    private boolean differs(Object value) {
        boolean differs = last[index] == UNWRITTEN || !Objects.equals(last[index], value);
        last[index++] = value;
        return differs;
    }

    private static boolean isNominee(Object role) {
        String name = role.getClass().getSimpleName();
        return name.equals("CandidateState") || name.equals("ProspectiveState");
    }

    private static Collection<Integer> votes(Object election, String kind) {
        if (election == null || !Members.has(election, kind, 0)) {
            return NO_VOTES;
        }
        return new TreeSet<>((Collection<Integer>) Members.call(election, kind));
    }
}
