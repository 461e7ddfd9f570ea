package kraft.agent;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Kafka's identities and elections as the values of a line. */
final class Shown {
    private static final String NO_DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAA";

    private Shown() {}

    static Map<String, Object> key(Object key) {
        if (key == null) {
            return null;
        }
        Object directory = Members.content(Members.call(key, "directoryId"));
        return key(Members.integer(key, "id"), directory == null ? NO_DIRECTORY : directory.toString());
    }

    static Map<String, Object> key(int id, String directory) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("id", id);
        shown.put("directory_id", directory.equals(NO_DIRECTORY) ? null : directory);
        return shown;
    }

    static String address(Object endpoints, Object listener) {
        InetSocketAddress address = (InetSocketAddress) Members.content(Members.call(endpoints, "address", listener));
        return address == null ? null : address(address);
    }

    static String address(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    static Map<String, Object> election(Object election) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("epoch", Members.call(election, "epoch"));
        boolean hasLeader = (Boolean) Members.call(election, "hasLeader");
        shown.put("leader_id", hasLeader ? Members.call(election, "leaderId") : null);
        shown.put("voted_key", key(Members.content(Members.call(election, "optionalVotedKey"))));
        return shown;
    }

    static Object offset(Object metadata) {
        return Members.has(metadata, "offset", 0) ? Members.call(metadata, "offset") : Members.get(metadata, "offset");
    }

    static List<Object> keys(Object voterSet) {
        TreeMap<Integer, Object> keys = new TreeMap<>();
        for (Object key : (Collection<?>) Members.call(voterSet, "voterKeys")) {
            keys.put(Members.integer(key, "id"), key(key));
        }
        return new ArrayList<>(keys.values());
    }
}
