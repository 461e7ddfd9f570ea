package kraftexplorer;

import java.util.concurrent.ConcurrentHashMap;

/** A string; equal strings are one object. */
final class Text extends Value {
  private static final ConcurrentHashMap<String, Text> ALL = new ConcurrentHashMap<>();

  final String text;

  private Text(String text) { this.text = text; }

  static Text of(String text) { return ALL.computeIfAbsent(text, Text::new); }

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
