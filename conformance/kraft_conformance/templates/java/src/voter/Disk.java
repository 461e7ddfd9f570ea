package voter;

/** What survives a crash: the quorum state file, and the log up to where it was synced. */
final class Disk {
    long epoch;
    Long leaderId;
    Key votedKey;
    final Log log = new Log();
}
