package kraftexplorer;

/** A TLA+ expression that has no value: a function outside its domain, a record without the field. */
public final class Undefined extends RuntimeException {
  Undefined(String what) { super(what, null, false, false); }
}
