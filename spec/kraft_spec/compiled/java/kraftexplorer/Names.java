package kraftexplorer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The field names of a record, in alphabetical order; records with the same fields share them. */
final class Names {
  private static final Map<List<String>, Names> ALL = new HashMap<>();
  private static final List<Names> LISTED = new ArrayList<>();

  /** Consecutive number, from 0. */
  final int number;
  final long hash;
  private final String[] sorted;
  private int[] inTlcOrder;

  private Names(String[] sorted, int number) {
    this.sorted = sorted;
    this.number = number;
    long all = 0x5_0000_0000L + sorted.length;
    for (String name : sorted) all = Value.chained(all, Text.of(name).hash());
    hash = all;
  }

  static synchronized Names of(String... names) {
    String[] sorted = names.clone();
    Arrays.sort(sorted);
    return ALL.computeIfAbsent(List.of(sorted), key -> {
      Names made = new Names(sorted, LISTED.size());
      LISTED.add(made);
      return made;
    });
  }

  int size() { return sorted.length; }

  String at(int place) { return sorted[place]; }

  /** Places of the fields in TLC's order. */
  int[] inTlcOrder() {
    if (inTlcOrder == null) {
      inTlcOrder =
          IntStream.range(0, sorted.length)
              .boxed()
              .sorted((a, b) -> Integer.compare(Text.of(sorted[a]).tlcOrder(), Text.of(sorted[b]).tlcOrder()))
              .mapToInt(Integer::intValue)
              .toArray();
    }
    return inTlcOrder;
  }

  /** Place of a field; negative if there is none. */
  int placeOf(String name) { return Arrays.binarySearch(sorted, name); }
}
