package kraftexplorer;

/** Recent values, so that equal results of operators are usually one object. A table of one thread; it may forget. */
final class Canon {
  private static final int BITS = 16;

  private final Value[] recent = new Value[1 << BITS];
  /** The components of stored states, which come first. */
  Components components = new Components();

  Value of(Value value) {
    if (value.canonical || value.id != 0 || value instanceof Int || value instanceof Bool || value instanceof Text) {
      return value;
    }
    int place = (int) (value.hash() >>> 64 - BITS);
    Value kept = recent[place];
    if (kept != null && Value.equal(kept, value)) return kept;
    Value component = components.find(value);
    Value canonical = component == null ? value : component;
    canonical.canonical = true;
    recent[place] = canonical;
    return canonical;
  }
}
