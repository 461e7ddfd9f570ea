package kraftexplorer;

/** States as numbers of components: one for a variable, or one for each element of a sequence, function or set. */
final class Encoding {
  private static final int WHOLE = 0, SEQUENCE = 1, SET = 2, FUNCTION = 3;

  final Components components;

  Encoding(Components components) { this.components = components; }

  /** Replaces the parts of a state by the components that equal them. */
  void intern(State state) {
    for (int variable = 0; variable < State.VARIABLES.length; variable++) {
      Value value = state.get(variable);
      if (value instanceof Sequence) internEach(value, ((Sequence) value).elements);
      else if (value instanceof FiniteSet) internEach(value, ((FiniteSet) value).elements);
      else if (value instanceof Function) internEach(value, ((Function) value).values);
      else if (value.id == 0) state.put(variable, components.of(value));
    }
  }

  /** An element is replaced by one that equals it, so that the value stays what it is. */
  private void internEach(Value value, Value[] elements) {
    value.whole = elements.length > 0;
    for (int i = 0; i < elements.length; i++) if (elements[i].id == 0) elements[i] = components.of(elements[i]);
  }

  void write(State state, Bytes out) {
    for (int variable = 0; variable < State.VARIABLES.length; variable++) {
      Value value = state.get(variable);
      if (value instanceof Sequence) {
        writeEach(SEQUENCE, ((Sequence) value).elements, out);
      } else if (value instanceof FiniteSet) {
        writeEach(SET, ((FiniteSet) value).elements, out);
      } else if (value instanceof Function) {
        writeEach(FUNCTION, ((Function) value).values, out);
        out.put(components.of(FiniteSet.ordered(((Function) value).domain)).id);
      } else {
        out.put(WHOLE);
        out.put(components.of(value).id);
      }
    }
  }

  private static void writeEach(int kind, Value[] elements, Bytes out) {
    out.put(kind | elements.length << 2);
    for (Value element : elements) out.put(element.id);
  }

  void read(Bytes in, State state) {
    for (int variable = 0; variable < State.VARIABLES.length; variable++) state.put(variable, read(in));
  }

  private Value read(Bytes in) {
    int head = in.next();
    if (head == WHOLE) return components.get(in.next());
    Value[] elements = new Value[head >>> 2];
    for (int i = 0; i < elements.length; i++) elements[i] = components.get(in.next());
    Value value;
    switch (head & 3) {
      case SEQUENCE: value = Sequence.of(elements); break;
      case SET: value = FiniteSet.ordered(elements); break;
      default: value = Function.of(((FiniteSet) components.get(in.next())).elements, elements);
    }
    value.whole = elements.length > 0;
    return value;
  }
}
