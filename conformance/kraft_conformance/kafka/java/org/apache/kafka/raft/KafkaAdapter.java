package org.apache.kafka.raft;

import adapter.Adapter;
import java.io.IOException;
import java.io.PrintStream;

/** Kafka's KafkaRaftClient behind kraft-adapter/1: the name of the release and the observability are the arguments. */
public final class KafkaAdapter {
    private KafkaAdapter() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream replies = System.out;
        // Standard output is for replies alone.
        System.setOut(System.err);
        new Adapter(new KafkaReplica(arguments[0], arguments[1])).serve(System.in, replies);
    }
}
