package org.apache.kafka.raft;

/** Thrown for what this Kafka does not have; the vector is then unsupported and not failed. */
public final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1;

    public Unsupported(String what) {
        super(what);
    }
}
