package kraftexplorer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tlc2.tool.TLCState;

/** A path that the explorer has found, for TLC to repeat: a hash of each of its states. */
public final class Guide {
  private final Map<Long, Long> following = new HashMap<>();

  private Guide(List<String> hashes) {
    for (int i = 1; i < hashes.size(); i++) {
      following.put(Long.valueOf(hashes.get(i - 1)), Long.valueOf(hashes.get(i)));
    }
  }

  public static Guide read(String file) {
    try {
      return new Guide(Files.readAllLines(Path.of(file)));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** True if the path has these states one after the other. */
  public boolean leads(TLCState now, TLCState later) {
    Long next = following.get(hash(now));
    return next != null && next == hash(later);
  }

  private static long hash(TLCState state) { return Specification.hash(Specification.from(state)); }
}
