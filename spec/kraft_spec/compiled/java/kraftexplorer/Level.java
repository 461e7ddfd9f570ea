package kraftexplorer;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The states at one distance from the initial ones, on the disk in blocks; and for each the place of its parent in the
 * level before, and which of the parent's successors it is. The states go when they are expanded, the parents stay.
 */
final class Level implements AutoCloseable {
  /** Some states, and the place of the first within the level. */
  static final class Block {
    final long first;
    final int count;
    final Bytes states;

    Block(long first, int count, byte[] states) {
      this.first = first;
      this.count = count;
      this.states = new Bytes(states);
    }
  }

  /** A state of a path: the place of its parent in the level before, and its number among the parent's successors. */
  static final class Origin {
    final long parent;
    final int choice;

    Origin(long parent, int choice) {
      this.parent = parent;
      this.choice = choice;
    }
  }

  final int number;
  private final Path statesAt, parentsAt;
  private final RandomAccessFile states, parents;
  long size, given;
  private long readAt;

  /** An empty level, in place of one that an earlier search left there. */
  static Level create(Path folder, int number) throws IOException {
    Level level = new Level(folder, number);
    level.states.setLength(0);
    level.parents.setLength(0);
    return level;
  }

  /** The level of a checkpoint, or the parents of one that is expanded. */
  static Level open(Path folder, int number) throws IOException { return new Level(folder, number); }

  private Level(Path folder, int number) throws IOException {
    this.number = number;
    statesAt = folder.resolve("level-" + number + ".states");
    parentsAt = folder.resolve("level-" + number + ".parents");
    states = new RandomAccessFile(statesAt.toFile(), "rw");
    parents = new RandomAccessFile(parentsAt.toFile(), "rw");
  }

  /** Forgets what files of an earlier run have beyond a checkpoint: state bytes, parent bytes, states, bytes read, states read. */
  void resume(long[] kept) throws IOException {
    states.setLength(kept[0]);
    parents.setLength(kept[1]);
    size = kept[2];
    readAt = kept[3];
    given = kept[4];
    states.seek(kept[0]);
    parents.seek(kept[1]);
  }

  synchronized long[] kept() throws IOException {
    states.getFD().sync();
    parents.getFD().sync();
    return new long[] {states.length(), parents.length(), size, readAt, given};
  }

  synchronized void append(int count, Bytes block, Bytes origins) throws IOException {
    if (count == 0) return;
    append(states, count, block);
    append(parents, count, origins);
    size += count;
    block.clear();
    origins.clear();
  }

  private static void append(RandomAccessFile file, int count, Bytes block) throws IOException {
    file.seek(file.length());
    file.writeInt(block.size);
    file.writeInt(count);
    file.write(block.bytes, 0, block.size);
  }

  /** The next block to expand; null after the last. */
  synchronized Block next() throws IOException {
    if (given == size) return null;
    states.seek(readAt);
    byte[] bytes = new byte[states.readInt()];
    int count = states.readInt();
    states.readFully(bytes);
    readAt += 8 + bytes.length;
    Block block = new Block(given, count, bytes);
    given += count;
    return block;
  }

  /** Where the state at a place comes from. */
  Origin origin(long place) throws IOException {
    parents.seek(0);
    for (long first = 0; ; ) {
      byte[] bytes = new byte[parents.readInt()];
      int count = parents.readInt();
      parents.readFully(bytes);
      if (place < first + count) {
        Bytes block = new Bytes(bytes);
        long parent = 0;
        for (long at = first; ; at++) {
          parent += block.nextLong();
          int choice = block.next();
          if (at == place) return new Origin(parent, choice);
        }
      }
      first += count;
    }
  }

  /** Ends the states, which are all expanded. */
  void expanded() throws IOException {
    states.close();
    Files.delete(statesAt);
  }

  @Override
  public void close() throws IOException {
    states.close();
    parents.close();
  }
}
