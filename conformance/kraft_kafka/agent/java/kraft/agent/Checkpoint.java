package kraft.agent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The whole state of a replica between two polls, so that a file can begin with it; its size is bounded. */
final class Checkpoint {
    /** The roles without a state of their own that Kafka does not show. */
    private static final Set<String> ROLES = Set.of("Unattached", "Prospective", "Candidate", "Follower", "Leader");

    private Checkpoint() {}

    /** True unless something is in progress that the next polls end: a voter change, or the fetch of a snapshot. */
    static boolean isPossible(Object client) {
        Object quorum = Members.get(client, "quorum");
        Object role = Members.get(quorum, "state");
        String name = (String) Members.call(role, "name");
        if (name.equals("Leader")) {
            return isSettled(role, Members.get(client, "partitionState"));
        }
        boolean isFetching = name.equals("Follower") && Members.content(Members.call(role, "fetchingSnapshot")) != null;
        return ROLES.contains(name) && !isFetching;
    }

    /** True for a leader whose voter set is committed, and which does not end. */
    private static boolean isSettled(Object leader, Object control) {
        Object highWatermark = Members.content(Members.call(leader, "highWatermark"));
        Object votersAt = Members.content(Members.call(control, "lastVoterSetOffset"));
        // Since 4.4 pending voter changes have a class of their own.
        Object changes = Members.has(leader, "changeVoterState", 0) ? Members.call(leader, "changeVoterState") : leader;
        return highWatermark != null
                && (votersAt == null || (Long) votersAt < (Long) Shown.offset(highWatermark))
                && Members.content(Members.call(changes, "addVoterHandlerState")) == null
                && Members.content(Members.call(changes, "removeVoterHandlerState")) == null
                && !(Boolean) Members.call(leader, "isResignRequested");
    }

    /** Return the records of a Fetch response, or null. */
    static Object records(Object data) {
        if (!data.getClass().getSimpleName().equals("FetchResponseData")) {
            return null;
        }
        for (Object topic : (List<?>) Members.call(data, "responses")) {
            for (Object partition : (List<?>) Members.call(topic, "partitions")) {
                return Members.call(partition, "records");
            }
        }
        return null;
    }

    /** Add what a state's fields do not have. */
    static void put(Line line, Object client, Object log, Object listener) throws ClassNotFoundException {
        Object quorum = Members.get(client, "quorum");
        Object control = Members.get(client, "partitionState");
        Object highWatermark = Members.content(Members.call(quorum, "highWatermark"));
        Disk.Tail tail = Disk.tail(log, highWatermark == null ? -1 : (Long) Shown.offset(highWatermark));
        Object votersAt = Members.content(Members.call(control, "lastVoterSetOffset"));
        Object voters = votersAt == null || (Long) votersAt < tail.offset
                ? Members.call(control, "lastVoterSet")
                : Members.content(Members.call(control, "voterSetAtOffset", tail.offset - 1));
        Object version = Members.call(control, "kraftVersionAtOffset", tail.offset - 1);
        line.open("base")
                .put("end_offset", tail.offset)
                .put("epoch", tail.epoch)
                .put("kraft_version", Members.call(version, "featureLevel"))
                .put("voters", voters(voters, listener))
                .close()
                .bytes("log", tail.batches)
                .put("requests", requests(Members.get(client, "requestManager")));
        putRole(line, Members.get(quorum, "state"));
    }

    private static void putRole(Line line, Object role) {
        String name = (String) Members.call(role, "name");
        if (name.equals("Follower")) {
            line.put("has_updated_leader",
                    Members.has(role, "hasUpdatedLeader", 0) && (Boolean) Members.call(role, "hasUpdatedLeader"));
        } else if (name.equals("Leader")) {
            List<Object> progress = new ArrayList<>(progress((Map<?, ?>) Members.get(role, "voterStates")));
            progress.addAll(progress((Map<?, ?>) Members.get(role, "observerStates")));
            line.open("leader")
                    .put("epoch_start_offset", Members.call(role, "epochStartOffset"))
                    .put("fetchers", new TreeSet<Object>((Collection<?>) Members.get(role, "fetchedVoters")))
                    .put("progress", progress)
                    .close();
        }
    }

    private static List<Object> progress(Map<?, ?> states) {
        List<Object> shown = new ArrayList<>();
        for (Object state : states.values()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("key", Shown.key(Members.call(state, "replicaKey")));
            Object end = Members.content(Members.call(state, "endOffset"));
            fields.put("fetch_offset", end == null ? null : Shown.offset(end));
            fields.put("acknowledged", Members.get(state, "hasAcknowledgedLeader"));
            shown.add(fields);
        }
        return shown;
    }

    private static List<Object> voters(Object voterSet, Object listener) {
        List<Object> shown = new ArrayList<>();
        if (voterSet == null) {
            // The disk was formatted without voters.
            return shown;
        }
        for (Object voter : (Collection<?>) Members.call(voterSet, "voterNodes")) {
            Object range = Members.call(voter, "supportedKRaftVersion");
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("key", Shown.key(Members.call(voter, "voterKey")));
            fields.put("endpoint", Shown.address(Members.call(voter, "listeners"), listener));
            fields.put("min_version", Members.call(range, "min"));
            fields.put("max_version", Members.call(range, "max"));
            shown.add(fields);
        }
        return shown;
    }

    /** Return the requests that await a response, and the connections that back off after one. */
    private static List<Object> requests(Object manager) {
        List<Object> shown = new ArrayList<>();
        for (Object connection : ((Map<?, ?>) Members.get(manager, "connections")).values()) {
            String state = Members.get(connection, "state").toString();
            Object node = Members.get(connection, "node");
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("destination", Members.call(node, "id"));
            fields.put("endpoint", Members.call(node, "host") + ":" + Members.call(node, "port"));
            fields.put("correlation_id", state.equals("AWAITING_RESPONSE")
                    ? Members.content((Object) Members.get(connection, "inFlightCorrelationId")) : null);
            if (!state.equals("READY")) {
                shown.add(fields);
            }
        }
        return shown;
    }
}
