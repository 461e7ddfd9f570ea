package kraftexplorer;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Explores FOLDER/MODULE.tla with FOLDER/CONFIGURATION.cfg, and prints lines of JSON: its progress every second, and at
 * the end the result. The path to a violation is written to FILES/path, a hash of each state; see tlc2.tool.impl.FastTool.
 */
public final class Main {
  private static final long SECOND = 1_000_000_000L;

  private final Search search;
  private final Path files;
  private final PrintStream out;
  private final double limitSeconds, checkpointSeconds;
  private final long started = System.nanoTime();
  private long shown = started, checkpointed = started;
  private boolean limited;

  private Main(Search search, Path files, PrintStream out, double limitSeconds, double checkpointSeconds) {
    this.search = search;
    this.files = files;
    this.out = out;
    this.limitSeconds = limitSeconds;
    this.checkpointSeconds = checkpointSeconds;
  }

  public static void main(String[] args) throws Exception {
    // TLC prints to standard output.
    PrintStream out = System.out;
    System.setOut(System.err);
    Specification specification = new Specification(args[0], args[1], args[2]);
    Path files = Path.of(args[3]);
    int threads = Integer.parseInt(args[4]);
    boolean deadlocks = Boolean.parseBoolean(args[5]);
    double limit = Double.parseDouble(args[6]), interval = Double.parseDouble(args[7]);
    boolean resume = Boolean.parseBoolean(args[8]);
    String unsupported = specification.unsupported();
    if (!unsupported.isEmpty()) {
      out.println("{\"outcome\":\"unsupported\",\"message\":" + quoted(unsupported) + "}");
      return;
    }
    Search search = new Search(specification, threads, deadlocks, files, args[9]);
    new Main(search, files, out, limit, interval).run(resume);
    System.exit(0);
  }

  private void run(boolean resume) throws IOException, InterruptedException {
    String outcome, message = "";
    try {
      if (resume) Checkpoint.read(search, files);
      else search.begin();
      outcome = search.run(this::watch) ? "ok" : "time limit";
      if (outcome.equals("time limit") && checkpointSeconds > 0) search.atRest(this::checkpoint);
    } catch (Stop stop) {
      outcome = stop.reason.name().toLowerCase();
      message = stop.getMessage();
      List<String> hashes = new ArrayList<>();
      for (State state : search.path(stop)) hashes.add(Long.toString(Specification.hash(state)));
      Files.write(files.resolve("path"), hashes);
    }
    if (Boolean.getBoolean("kraftspec.memos")) {
      search.workers[0].model.memos.memos.stream()
          .sorted((a, b) -> Long.compare(b.hits + b.misses, a.hits + a.misses))
          .forEach(System.err::println);
    }
    show("\"outcome\":" + quoted(outcome) + ",\"message\":" + quoted(message) + ",");
  }

  private boolean watch() throws IOException {
    long now = System.nanoTime();
    if (now - shown >= SECOND) {
      shown = now;
      show("");
    }
    if (checkpointSeconds > 0 && now - checkpointed >= checkpointSeconds * SECOND) {
      search.atRest(this::checkpoint);
      checkpointed = System.nanoTime();
    }
    return limitSeconds > 0 && now - started >= limitSeconds * SECOND;
  }

  private void checkpoint() throws IOException { Checkpoint.write(search, files); }

  private void show(String more) {
    out.printf(
        "{%s\"generated\":%d,\"distinct\":%d,\"left\":%d,\"depth\":%d,\"components\":%d,\"sampled\":%d,\"cpu\":%.2f,\"widths\":%s}%n",
        more, search.generated(), search.distinct(), search.distinct() - search.expanded(), search.widths.size(),
        search.components.size(), search.judge.sampled, search.cpuNanos / 1e9, search.widths);
    out.flush();
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char mark : text.toCharArray()) {
      if (mark == '"' || mark == '\\') quoted.append('\\').append(mark);
      else if (mark < ' ' || mark > '~') quoted.append(String.format("\\u%04x", (int) mark));
      else quoted.append(mark);
    }
    return quoted.append('"').toString();
  }
}
