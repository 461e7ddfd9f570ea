import adapter.Adapter;
import adapter.Json;
import java.io.IOException;
import java.io.PrintStream;
import voter.Voter;

/** The adapter as a program.  Put your own implementation of {@link adapter.Replica} in the place of Voter. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream replies = System.out;
        // Standard output is for replies alone: whatever else prints, a logger say, prints to standard error.
        System.setOut(System.err);
        if (arguments.length == 1 && arguments[0].equals("--echo")) {
            // For the tests of the JSON reader and writer: each line is read and written again.
            Adapter.eachLine(System.in, replies, (line, number) -> echoed(line), () -> false);
        } else {
            new Adapter(new Voter()).serve(System.in, replies);
        }
    }

    private static String echoed(String line) {
        try {
            return Json.write(Json.parse(line));
        } catch (IllegalArgumentException error) {
            return error.toString();
        }
    }
}
