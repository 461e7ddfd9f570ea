package kraftexplorer;

import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Numbers, truth values, strings, and definitions of a LET. */
abstract class Scalars {
  /** A local operator with one parameter. */
  public interface F1 { Value apply(Value a); }
  /** With two. */
  public interface F2 { Value apply(Value a, Value b); }
  /** With three. */
  public interface F3 { Value apply(Value a, Value b, Value c); }
  /** With four. */
  public interface F4 { Value apply(Value a, Value b, Value c, Value d); }
  /** With five. */
  public interface F5 { Value apply(Value a, Value b, Value c, Value d, Value e); }

  /** A definition of a LET, evaluated at its first use. */
  public static final class Lazy {
    private Supplier<Value> make;
    private Value made;

    public Lazy(Supplier<Value> make) { this.make = make; }

    public Value get() {
      if (made == null) {
        made = make.get();
        make = null;
      }
      return made;
    }
  }

  /** The same for a number. */
  public static final class LazyInt {
    private IntSupplier make;
    private int made;

    public LazyInt(IntSupplier make) { this.make = make; }

    public int get() {
      if (make != null) {
        made = make.getAsInt();
        make = null;
      }
      return made;
    }
  }

  /** The same for a truth value. */
  public static final class LazyBool {
    private BooleanSupplier make;
    private boolean made;

    public LazyBool(BooleanSupplier make) { this.make = make; }

    public boolean get() {
      if (make != null) {
        made = make.getAsBoolean();
        make = null;
      }
      return made;
    }
  }

  public static Value value(Supplier<Value> make) { return make.get(); }

  public static int integer(IntSupplier make) { return make.getAsInt(); }

  public static boolean bool(BooleanSupplier make) { return make.getAsBoolean(); }

  public static Undefined noCase(String where) { return new Undefined("no arm of the CASE holds: " + where); }

  /** An action that leaves a variable open. */
  public static Undefined open() { return new Undefined("the action leaves a variable open"); }

  public static Value box(int number) { return Int.of(number); }

  public static Value box(boolean truth) { return truth ? Bool.TRUE : Bool.FALSE; }

  public static int number(Value value) {
    if (value instanceof Int) return ((Int) value).number;
    throw new Undefined("no number");
  }

  public static boolean truth(Value value) {
    if (value == Bool.TRUE) return true;
    if (value == Bool.FALSE) return false;
    throw new Undefined("no truth value");
  }

  public static Value string(String text) { return Text.of(text); }

  public static boolean isString(Value value) { return value instanceof Text; }

  public static boolean isBoolean(Value value) { return value instanceof Bool; }

  public static boolean isInteger(Value value) { return value instanceof Int; }

  public static boolean isNatural(Value value) { return value instanceof Int && ((Int) value).number >= 0; }

  public static boolean between(int number, int low, int high) { return low <= number && number <= high; }

  /** A constant; its hash is computed before threads share it. */
  public static Value normal(Value value) {
    value.hash();
    return value;
  }

  public static boolean equal(Value first, Value second) { return Value.equal(first, second); }

  public static boolean holds(Value value, Predicate<Value> test) { return test.test(value); }
}
