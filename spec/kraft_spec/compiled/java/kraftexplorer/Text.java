package kraftexplorer;

import java.util.concurrent.ConcurrentHashMap;
import util.UniqueString;

/** A string; equal strings are one object. */
final class Text extends Value {
  private static final ConcurrentHashMap<String, Text> ALL = new ConcurrentHashMap<>();

  final String text;
  private int tlcOrder = -1;

  private Text(String text) { this.text = text; }

  static Text of(String text) { return ALL.computeIfAbsent(text, Text::new); }

  int tlcOrder() {
    if (tlcOrder < 0) tlcOrder = UniqueString.uniqueStringOf(text).getTok();
    return tlcOrder;
  }

  @Override
  long computeHash() {
    long hash = 0x3_0000_0000L + text.length();
    for (int i = 0; i < text.length(); i++) hash = chained(hash, text.charAt(i));
    return hash;
  }

  @Override
  boolean hasSameParts(Value other) { return false; }

  @Override
  public String toString() { return '"' + text + '"'; }
}
