package voter;

import adapter.Json;
import java.util.Map;

/** Who a replica is: its id and the directory id of its disk. */
record Key(long id, String directoryId) {
    static Key of(Object json) {
        Map<String, Object> key = Json.asObject(json);
        return new Key(Json.integer(key, "id"), Json.textOrNull(key, "directory_id"));
    }

    Map<String, Object> shown() {
        return Json.object("id", id, "directory_id", directoryId);
    }

    /** Is a request that names its receiver meant for this replica?  What it leaves out is not checked. */
    boolean isAddressedBy(Object receiver) {
        if (receiver == null) {
            return true;
        }
        Key named = Key.of(receiver);
        return named.id == id && (named.directoryId == null || named.directoryId.equals(directoryId));
    }
}
