package kraftspec;

import kraftspec.Json.Declined;
import kraftspec.Json.Fields;
import tlc2.value.impl.Value;
import util.UniqueString;

/** What the model has of an object of a trace, and what it has not. */
final class Shown {
  private final String[] fields;
  private final Form[] forms;
  final UniqueString[] names;
  private final Value[] constants;
  private final String[] beyond;
  private final Form[] held;
  private final Values.Field[] places;
  private final String[] required;
  final String suffix;
  private Values.Shape shape;

  /**
   * {"fields": {field: [name in the model, form]}, "constants": {name: value}, "beyond": {field: form}, "required":
   * [field, ...]}; of the fields, those that are not required may be left out.
   */
  Shown(Fields table) {
    Fields given = (Fields) table.get("fields"), more = (Fields) table.get("constants");
    fields = java.util.Arrays.copyOf(given.names, given.size);
    forms = new Form[given.size];
    names = new UniqueString[given.size + more.size];
    places = new Values.Field[names.length];
    for (int i = 0; i < forms.length; i++) {
      Object[] pair = (Object[]) given.values[i];
      names[i] = UniqueString.uniqueStringOf((String) pair[0]);
      forms[i] = Form.read(pair[1]);
    }
    constants = new Value[more.size];
    for (int i = 0; i < constants.length; i++) {
      names[fields.length + i] = UniqueString.uniqueStringOf(more.names[i]);
      constants[i] = Form.constant(more.values[i]);
    }
    for (int i = 0; i < places.length; i++) places[i] = new Values.Field(names[i].toString());
    Fields others = (Fields) table.get("beyond");
    beyond = java.util.Arrays.copyOf(others.names, others.size);
    held = new Form[others.size];
    for (int i = 0; i < held.length; i++) held[i] = Form.read(others.values[i]);
    Object[] named = (Object[]) table.get("required");
    required = new String[named.length];
    for (int i = 0; i < named.length; i++) required[i] = ((String) named[i]).intern();
    suffix = table.get("suffix") == null ? "" : (String) table.get("suffix");
  }

  /** The model's values of an object that leaves nothing out. */
  Value[] values(Fields given) {
    if (given.size != fields.length + beyond.length) throw new Declined("other fields");
    Value[] values = new Value[names.length];
    for (int i = 0; i < fields.length; i++) values[i] = forms[i].of(there(given, fields[i]));
    for (int i = 0; i < beyond.length; i++) held[i].of(there(given, beyond[i]));
    System.arraycopy(constants, 0, values, fields.length, constants.length);
    return values;
  }

  /** The model's values of an object that leaves out nothing that the model has. */
  Value[] stated(Fields given) {
    Value[] values = new Value[names.length];
    for (int i = 0; i < fields.length; i++) values[i] = forms[i].of(there(given, fields[i]));
    int known = fields.length;
    for (int i = 0; i < beyond.length; i++) {
      Object value = given.get(beyond[i]);
      if (value == null) continue;
      known++;
      held[i].of(value);
    }
    if (known != given.size) throw new Declined("a field that is not known");
    System.arraycopy(constants, 0, values, fields.length, constants.length);
    return values;
  }

  /** The record of values in the order of {@link #names}. */
  Value record(Value[] values) {
    if (shape == null) {
      String[] written = new String[names.length];
      for (int i = 0; i < written.length; i++) written[i] = names[i].toString();
      shape = new Values.Shape(written);
    }
    return shape.of(values);
  }

  private static Object there(Fields given, String name) {
    Object value = given.get(name);
    if (value == null) throw new Declined("a field is missing");
    return value;
  }

  /** Is every field of the model there? */
  boolean isWhole(Fields given) {
    for (String name : fields) if (given.get(name) == null) return false;
    return true;
  }

  /** Is every field there? */
  boolean holdsAll(Fields given) { return given.size == fields.length + beyond.length; }

  /** Holds an object that may leave fields out to the model's; is every field of the model there? */
  boolean compared(Fields given, Value expected) {
    int known = 0;
    for (String name : required) there(given, name);
    // The constants first: without its type an expected value has other fields.
    for (int i = names.length - 1; i >= 0; i--) {
      Value value;
      if (i < fields.length) {
        Object shown = given.get(fields[i]);
        if (shown == null) continue;
        known++;
        value = forms[i].of(shown);
      } else value = constants[i - fields.length];
      if (!Values.equal(places[i].of(expected), value)) throw new Declined("another " + names[i]);
    }
    boolean whole = known == fields.length;
    for (int i = 0; i < beyond.length; i++) {
      Object shown = given.get(beyond[i]);
      if (shown == null) continue;
      known++;
      held[i].of(shown);
    }
    if (known != given.size) throw new Declined("a field that is not known");
    return whole;
  }
}
