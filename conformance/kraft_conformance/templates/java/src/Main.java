import adapter.Adapter;
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
        new Adapter(new Voter()).serve(System.in, replies);
    }
}
