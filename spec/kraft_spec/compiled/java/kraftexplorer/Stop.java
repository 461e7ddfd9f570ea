package kraftexplorer;

/** The end of a search before its time. */
final class Stop extends RuntimeException {
  enum Reason { VIOLATION, DEADLOCK, ERROR, DISAGREEMENT }

  final Reason reason;
  /** Level of the last state that is known by its origin, its place there, and the successor that it is about or -1. */
  int level;
  long place;
  int choice;

  Stop(Reason reason, String what, Throwable cause) {
    super(what, cause, false, true);
    this.reason = reason;
  }
}
