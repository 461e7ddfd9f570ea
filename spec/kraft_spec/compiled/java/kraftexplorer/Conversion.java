package kraftexplorer;

import tlc2.value.impl.BoolValue;
import tlc2.value.impl.FcnRcdValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.TupleValue;
import util.UniqueString;

/** Values of TLC from and to those of the explorer. */
public final class Conversion {
  private Conversion() {}

  public static Value from(tlc2.value.impl.Value value) {
    if (value instanceof IntValue) return Int.of(((IntValue) value).val);
    if (value instanceof BoolValue) return Values.box(((BoolValue) value).val);
    if (value instanceof StringValue) return Text.of(((StringValue) value).val.toString());
    if (value instanceof TupleValue) return Sequence.of(each(((TupleValue) value).elems));
    if (value instanceof RecordValue) return record((RecordValue) value);
    tlc2.value.impl.Value set = value.toSetEnum();
    if (set != null) return FiniteSet.of(each(((SetEnumValue) set).elems.toArray()));
    FcnRcdValue function = (FcnRcdValue) value.toFcnRcd();
    if (function == null) throw new Undefined("a value that is no finite data: " + value);
    return function(each(function.getDomainAsValues()), each(function.values));
  }

  private static Value[] each(tlc2.value.impl.Value[] values) {
    Value[] converted = new Value[values.length];
    for (int i = 0; i < values.length; i++) converted[i] = from(values[i]);
    return converted;
  }

  private static Value record(RecordValue record) {
    String[] names = new String[record.names.length];
    for (int i = 0; i < names.length; i++) names[i] = record.names[i].toString();
    return new Records.Shape(names).of(each(record.values));
  }

  private static Value function(Value[] domain, Value[] values) {
    Value all = Sequence.EMPTY;
    for (int i = 0; i < domain.length; i++) all = Values.combined(Values.singleFunction(domain[i], values[i]), all);
    return all;
  }

  public static tlc2.value.impl.Value to(Value value) {
    if (value instanceof Int) return IntValue.gen(((Int) value).number);
    if (value instanceof Bool) return ((Bool) value).truth ? BoolValue.ValTrue : BoolValue.ValFalse;
    if (value instanceof Text) return new StringValue(UniqueString.uniqueStringOf(((Text) value).text));
    if (value instanceof Sequence) return new TupleValue(toEach(((Sequence) value).elements));
    if (value instanceof FiniteSet) return new SetEnumValue(toEach(((FiniteSet) value).elements), false).normalize();
    if (value instanceof Rec) {
      Rec record = (Rec) value;
      UniqueString[] names = new UniqueString[record.values.length];
      for (int i = 0; i < names.length; i++) names[i] = UniqueString.uniqueStringOf(record.names.at(i));
      return new RecordValue(names, toEach(record.values), false).normalize();
    }
    Function function = (Function) value;
    return new FcnRcdValue(toEach(function.domain), toEach(function.values), false).normalize();
  }

  private static tlc2.value.impl.Value[] toEach(Value[] values) {
    tlc2.value.impl.Value[] converted = new tlc2.value.impl.Value[values.length];
    for (int i = 0; i < values.length; i++) converted[i] = to(values[i]);
    return converted;
  }
}
