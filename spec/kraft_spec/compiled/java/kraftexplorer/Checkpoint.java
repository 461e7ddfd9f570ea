package kraftexplorer;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** What a search has beside the files of its levels: components, fingerprints, and how far it is. */
final class Checkpoint {
  private static final String NAME = "explorer.checkpoint";

  private Checkpoint() {}

  interface Action {
    void run() throws IOException;
  }

  /** Writes one, in place of the one before; the search is at rest. */
  static void write(Search search, Path folder) throws IOException {
    Path written = folder.resolve(NAME + ".new");
    try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(written), 1 << 16))) {
      out.writeUTF(search.stamp);
      out.writeInt(search.level.number);
      for (Level level : new Level[] {search.level, search.following}) for (long part : level.kept()) out.writeLong(part);
      out.writeInt(search.widths.size());
      for (long width : search.widths) out.writeLong(width);
      out.writeLong(search.generated());
      out.writeLong(search.distinct());
      out.writeLong(search.expanded());
      int components = search.components.size();
      out.writeInt(components);
      for (int id = 1; id <= components; id++) write(search.components.get(id), out);
      search.fingerprints.write(out);
    }
    Files.move(written, folder.resolve(NAME), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Continues from one. */
  static void read(Search search, Path folder) throws IOException {
    Path written = folder.resolve(NAME);
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(written), 1 << 16))) {
      if (!in.readUTF().equals(search.stamp)) {
        throw new IOException("the checkpoint in " + folder + " is of another model: start again without --resume");
      }
      int number = in.readInt();
      search.level = Level.open(folder, number);
      search.following = Level.open(folder, number + 1);
      for (Level level : new Level[] {search.level, search.following}) {
        long[] kept = new long[5];
        for (int i = 0; i < kept.length; i++) kept[i] = in.readLong();
        level.resume(kept);
      }
      for (int left = in.readInt(); left > 0; left--) search.widths.add(in.readLong());
      search.workers[0].generated = in.readLong();
      search.workers[0].distinct = in.readLong();
      search.workers[0].expanded = in.readLong();
      for (int left = in.readInt(); left > 0; left--) search.components.of(read(in));
      search.fingerprints.read(in);
    }
  }

  private static void write(Value value, DataOutputStream out) throws IOException {
    if (value instanceof Int) {
      out.writeByte('i');
      out.writeInt(((Int) value).number);
    } else if (value instanceof Bool) {
      out.writeByte(((Bool) value).truth ? 't' : 'f');
    } else if (value instanceof Text) {
      out.writeByte('s');
      out.writeUTF(((Text) value).text);
    } else if (value instanceof Sequence) {
      writeEach('q', ((Sequence) value).elements, out);
    } else if (value instanceof FiniteSet) {
      writeEach('e', ((FiniteSet) value).elements, out);
    } else if (value instanceof Function) {
      writeEach('m', ((Function) value).domain, out);
      writeEach('q', ((Function) value).values, out);
    } else {
      Rec record = (Rec) value;
      writeEach('r', record.values, out);
      for (int i = 0; i < record.values.length; i++) out.writeUTF(record.names.at(i));
    }
  }

  private static void writeEach(char kind, Value[] values, DataOutputStream out) throws IOException {
    out.writeByte(kind);
    out.writeInt(values.length);
    for (Value value : values) write(value, out);
  }

  private static Value read(DataInputStream in) throws IOException {
    char kind = (char) in.readByte();
    switch (kind) {
      case 'i': return Int.of(in.readInt());
      case 't': return Bool.TRUE;
      case 'f': return Bool.FALSE;
      case 's': return Text.of(in.readUTF());
      default:
    }
    Value[] values = new Value[in.readInt()];
    for (int i = 0; i < values.length; i++) values[i] = read(in);
    switch (kind) {
      case 'q': return Sequence.of(values);
      case 'e': return FiniteSet.ordered(values);
      case 'm': return Function.of(values, elements(read(in)));
      default:
    }
    String[] names = new String[values.length];
    for (int i = 0; i < names.length; i++) names[i] = in.readUTF();
    return new Rec(Names.of(names), values);
  }

  private static Value[] elements(Value sequence) { return ((Sequence) sequence).elements; }
}
