package kraftexplorer;

import java.util.Arrays;

/** Records, and EXCEPT of any function. */
abstract class Records extends Scalars {
  private static final int UNKNOWN = -1;

  static Rec record(Value value) {
    if (value instanceof Rec) return (Rec) value;
    throw new Undefined("no record");
  }

  /** A field that the model names; it knows its place in every kind of record that it has been asked of. */
  public static final class Field {
    final String name;
    private volatile int[] places = {};

    public Field(String name) { this.name = name; }

    public Value of(Value value) {
      Rec record = record(value);
      return record.values[placeIn(record.names)];
    }

    int placeIn(Names names) {
      int place = placeOrNegative(names);
      if (place < 0) throw new Undefined("no field " + name);
      return place;
    }

    int placeOrNegative(Names names) {
      int[] known = places;
      int number = names.number;
      return number < known.length && known[number] != UNKNOWN ? known[number] : learn(names);
    }

    private synchronized int learn(Names names) {
      int length = places.length;
      int[] more = Arrays.copyOf(places, Math.max(length, names.number + 8));
      if (more.length > length) Arrays.fill(more, length, more.length, UNKNOWN);
      int place = names.placeOf(name);
      more[names.number] = place < 0 ? -2 : place;
      places = more;
      return place;
    }
  }

  /** The fields of a record constructor, in the order of the text. */
  public static final class Shape {
    private final Names names;
    private final int[] places;

    public Shape(String... written) {
      names = Names.of(written);
      places = new int[written.length];
      for (int i = 0; i < places.length; i++) places[i] = names.placeOf(written[i]);
    }

    public Value of(Value... written) {
      Value[] values = new Value[written.length];
      for (int i = 0; i < written.length; i++) values[places[i]] = written[i];
      return new Rec(names, values);
    }
  }

  /** One EXCEPT: changes one place after the other, in a copy that is made once for the fields of a record. */
  public static final class Update {
    private Value base;
    private Names names;
    private Value[] values;

    public Update(Value base) { this.base = base; }

    public Update with(Field field, Value value) {
      open();
      values[field.placeIn(names)] = value;
      return this;
    }

    public Update with(Field field, F1 change) {
      open();
      int place = field.placeIn(names);
      values[place] = change.apply(values[place]);
      return this;
    }

    /** A longer path, or one through a function; each key is a {@link Field} or a {@link Key}. */
    public Update along(F1 change, Object... path) {
      base = changed(done(), path, 0, change);
      values = null;
      return this;
    }

    public Value done() { return values == null ? base : new Rec(names, values); }

    private void open() {
      if (values == null) {
        Rec record = record(base);
        names = record.names;
        values = record.values.clone();
      }
    }
  }

  /** An argument in the path of an EXCEPT. */
  public static final class Key {
    final Value value;

    Key(Value value) { this.value = value; }
  }

  public static Key key(Value value) { return new Key(value); }

  private static Value changed(Value base, Object[] path, int depth, F1 change) {
    if (depth == path.length) return change.apply(base);
    if (path[depth] instanceof Field) return changedField(record(base), (Field) path[depth], path, depth, change);
    Value at = ((Key) path[depth]).value;
    if (base instanceof Rec && at instanceof Text) {
      return changedField((Rec) base, new Field(((Text) at).text), path, depth, change);
    }
    if (base instanceof Sequence) {
      Value[] elements = ((Sequence) base).elements;
      int place = at instanceof Int ? ((Int) at).number - 1 : -1;
      if (place < 0 || place >= elements.length) return base;
      return ((Sequence) base).with(place, changed(elements[place], path, depth + 1, change));
    }
    if (!(base instanceof Function)) throw new Undefined("no function");
    Function function = (Function) base;
    int place = function.placeOf(at);
    return place < 0 ? base : function.with(place, changed(function.values[place], path, depth + 1, change));
  }

  private static Value changedField(Rec record, Field field, Object[] path, int depth, F1 change) {
    int place = field.placeOrNegative(record.names);
    if (place < 0) return record;
    Value[] values = record.values.clone();
    values[place] = changed(values[place], path, depth + 1, change);
    return new Rec(record.names, values);
  }
}
