package voter;

import adapter.Replica.Key;

/** The file of this name; leader and voted are null for none. */
record QuorumState(long epoch, Long leader, Key voted) {
    boolean isLedBy(long id) {
        return leader != null && leader == id;
    }
}
