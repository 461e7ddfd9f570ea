package kraftspec;

import java.util.HashMap;
import java.util.Map;
import kraftspec.Json.Declined;
import kraftspec.Json.Fields;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import util.UniqueString;

/**
 * From a value of a trace to the model's value for the same thing, by a description that comes from the tables of
 * kraft_spec.mapping and kraft_traces.forms: nothing of the protocol stands here.
 *
 * <p>What the description does not foresee is {@link Declined}.
 */
abstract class Form {
  /** The model's value. */
  abstract Value of(Object json);

  /** Reads a description: the name of a form without parts, or an array of a name and its parts. */
  static Form read(Object description) {
    if (description instanceof String) return plain((String) description);
    Object[] parts = (Object[]) description;
    switch ((String) parts[0]) {
      case "sequence": return new Sequence(read(parts[1]));
      case "set": return new SetOf(read(parts[1]), 0);
      case "some": return new SetOf(read(parts[1]), 1);
      case "only": {
        Form member = read(parts[1]);
        return new Form() {
          @Override Value of(Object json) { return new TupleValue(new Value[] {member.of(json)}); }
        };
      }
      case "pair": return new Pair(read(parts[1]), read(parts[2]), parts.length > 3 ? (Object[]) parts[3] : null);
      case "tuple": return new Tuple((Fields) parts[1]);
      case "record": return new Record((Fields) parts[1], (Fields) parts[2]);
      case "by": return new By((String) parts[1], (Fields) parts[2]);
      case "constant": {
        Value value = constant(parts[1]);
        return new Form() {
          @Override Value of(Object json) {
            typed(json, String.class);
            return value;
          }
        };
      }
      case "range": return new Range((Long) parts[1], (Long) parts[2]);
      case "word": return new WordOr((Object[]) parts[1], (Object[]) parts[2], read(parts[3]));
      default: throw new IllegalArgumentException((String) parts[0]);
    }
  }

  private static Form plain(String name) {
    switch (name) {
      case "integer": return new Form() {
        @Override Value of(Object json) {
          return IntValue.gen(integer(json));
        }
      };
      case "boolean": return new Form() {
        @Override Value of(Object json) {
          return typed(json, Boolean.class) ? BoolValue.ValTrue : BoolValue.ValFalse;
        }
      };
      case "name": return new Form() {
        @Override Value of(Object json) { return text(typed(json, String.class)); }
      };
      // A name that the model has not, one for each message: TLC never forgets a string.
      case "unread name": return new Form() {
        @Override Value of(Object json) {
          typed(json, String.class);
          return text("");
        }
      };
      case "never": return new Form() {
        @Override Value of(Object json) { throw new Declined("another value"); }
      };
      default: throw new IllegalArgumentException(name);
    }
  }

  static <T> T typed(Object json, Class<T> wanted) {
    if (!wanted.isInstance(json)) throw new Declined("another type");
    return wanted.cast(json);
  }

  static int integer(Object json) {
    long number = typed(json, Long.class);
    if (number != (int) number) throw new Declined("beyond the model's integers");
    return (int) number;
  }

  private static final Map<String, StringValue> TEXTS = new HashMap<>();

  /** A string of the model, made once. */
  static StringValue text(String text) {
    StringValue known = TEXTS.get(text);
    if (known == null) {
      known = new StringValue(UniqueString.uniqueStringOf(text));
      if (TEXTS.size() < 50_000) TEXTS.put(text, known);
    }
    return known;
  }

  /** A constant: a number, a truth value, a string, an array for a tuple, or an object: a record, or {"set": [...]}. */
  static Value constant(Object json) {
    if (json instanceof Long) return IntValue.gen((int) (long) (Long) json);
    if (json instanceof Boolean) return (Boolean) json ? BoolValue.ValTrue : BoolValue.ValFalse;
    if (json instanceof String) return text((String) json);
    if (json instanceof Object[]) {
      Object[] parts = (Object[]) json;
      Value[] values = new Value[parts.length];
      for (int i = 0; i < values.length; i++) values[i] = constant(parts[i]);
      return new TupleValue(values);
    }
    Fields fields = (Fields) json;
    if (fields.get("set") != null) {
      Value[] members = ((TupleValue) constant(fields.get("set"))).elems;
      return new SetEnumValue(members, false);
    }
    Value[] values = new Value[fields.size];
    for (int i = 0; i < values.length; i++) values[i] = constant(fields.values[i]);
    return new Values.Shape(names(fields)).of(values);
  }

  private static String[] names(Fields fields) { return java.util.Arrays.copyOf(fields.names, fields.size); }

  /** A number within bounds; one that the model cannot hold is none. */
  private static final class Range extends Form {
    private final long least;
    private final long most;

    Range(long least, long most) {
      this.least = least;
      this.most = most;
    }

    @Override Value of(Object json) {
      long number = typed(json, Long.class);
      if (number < least || number > most || number != (int) number) throw new Declined("out of bounds");
      return IntValue.gen((int) number);
    }
  }

  private static final class Sequence extends Form {
    private final Form member;

    Sequence(Form member) { this.member = member; }

    @Override Value of(Object json) { return new TupleValue(values(json, member)); }
  }

  private static Value[] values(Object json, Form member) {
    Object[] parts = typed(json, Object[].class);
    Value[] values = new Value[parts.length];
    for (int i = 0; i < values.length; i++) values[i] = member.of(parts[i]);
    return values;
  }

  private static final class SetOf extends Form {
    private final Form member;

    private final int least;

    SetOf(Form member, int least) {
      this.member = member;
      this.least = least;
    }

    @Override Value of(Object json) {
      Value[] values = values(json, member);
      SetEnumValue made = new SetEnumValue(values, false);
      made.normalize();
      if (values.length < least || made.size() != values.length) throw new Declined("a member twice");
      return made;
    }
  }

  /** An array of two: a tuple of the model, or a record with the two fields that are named. */
  private static final class Pair extends Form {
    private final Form first;
    private final Form second;
    private final Values.Shape made;

    Pair(Form first, Form second, Object[] names) {
      this.first = first;
      this.second = second;
      made = names == null ? null : new Values.Shape((String) names[0], (String) names[1]);
    }

    @Override Value of(Object json) {
      Object[] parts = typed(json, Object[].class);
      if (parts.length != 2) throw new Declined("no pair");
      Value one = first.of(parts[0]);
      Value other = second.of(parts[1]);
      return made == null ? new TupleValue(one, other) : made.of(one, other);
    }
  }

  /** The fields of an object, each with its form. */
  static final class Shape {
    final String[] names;
    final Form[] forms;

    Shape(Fields fields) {
      names = names(fields);
      forms = new Form[fields.size];
      for (int i = 0; i < forms.length; i++) forms[i] = read(fields.values[i]);
    }

    Value[] values(Object json) {
      Fields fields = typed(json, Fields.class);
      if (fields.size != names.length) throw new Declined("other fields");
      Value[] values = new Value[names.length];
      for (int i = 0; i < names.length; i++) {
        Object value = fields.get(names[i]);
        if (value == null) throw new Declined("a field is missing");
        values[i] = forms[i].of(value);
      }
      return values;
    }
  }

  private static final class Tuple extends Form {
    private final Shape shape;

    Tuple(Fields fields) { shape = new Shape(fields); }

    @Override Value of(Object json) { return new TupleValue(shape.values(json)); }
  }

  /** A record of the model: fields of the object, and constants beside them. */
  private static final class Record extends Form {
    private final Shape shape;
    private final Values.Shape made;
    private final Value[] constants;

    Record(Fields fields, Fields more) {
      shape = new Shape(fields);
      String[] names = java.util.Arrays.copyOf(fields.names, fields.size + more.size);
      System.arraycopy(more.names, 0, names, fields.size, more.size);
      made = new Values.Shape(names);
      constants = new Value[more.size];
      for (int i = 0; i < constants.length; i++) constants[i] = constant(more.values[i]);
    }

    @Override Value of(Object json) {
      Value[] given = shape.values(json);
      Value[] values = java.util.Arrays.copyOf(given, given.length + constants.length);
      System.arraycopy(constants, 0, values, given.length, constants.length);
      return made.of(values);
    }
  }

  /** One of several forms, chosen by a field of the object. */
  private static final class By extends Form {
    private final String field;
    private final Map<String, Form> forms = new HashMap<>();

    By(String field, Fields choices) {
      this.field = field.intern();
      for (int i = 0; i < choices.size; i++) forms.put(choices.names[i], read(choices.values[i]));
    }

    @Override Value of(Object json) {
      Object chosen = typed(json, Fields.class).get(field);
      Form form = chosen instanceof String ? forms.get(chosen) : null;
      if (form == null) throw new Declined("no such kind");
      return form.of(json);
    }
  }

  /** A constant for each of some words of the trace, null among them; everything else in another form. */
  private static final class WordOr extends Form {
    private final Object[] words;
    private final Value[] values;
    private final Form otherwise;

    WordOr(Object[] words, Object[] constants, Form otherwise) {
      this.words = words;
      values = new Value[constants.length];
      for (int i = 0; i < values.length; i++) values[i] = constant(constants[i]);
      this.otherwise = otherwise;
    }

    @Override Value of(Object json) {
      for (int i = 0; i < words.length; i++) if (Json.same(words[i], json)) return values[i];
      return otherwise.of(json);
    }
  }
}
