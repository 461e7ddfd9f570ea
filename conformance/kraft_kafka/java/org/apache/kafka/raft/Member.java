package org.apache.kafka.raft;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.message.AddRaftVoterRequestData;
import org.apache.kafka.common.utils.Timer;
import org.apache.kafka.raft.internals.AddVoterHandlerState;
import org.apache.kafka.raft.internals.RemoveVoterHandlerState;

/**
 * The fields and methods of Kafka that the adapter reaches by name, because they are private or some releases lack them.
 *
 * <p>This is the table of all releases: a place without `since` and `until` is in each of them.  {@link #require} ends
 * the adapter before `hello` if this Kafka lacks one that the table has for its release.  Where a release moves or
 * renames a member, the old place gets an `until`, and the new one is written behind it with a `since`.
 */
enum Member {
    STATE(field(QuorumState.class, "state")),
    REQUEST_MANAGER(field(KafkaRaftClient.class, "requestManager")),
    CONTROL_RECORDS(field(KafkaRaftClient.class, "partitionState")),
    BOOTSTRAP_SERVERS(field(RequestManager.class, "bootstrapServers")),

    POLL(method(KafkaRaftClient.class, "pollCurrentState", "long")),
    HANDLE_MESSAGE(
            method(KafkaRaftClient.class, "handleInboundMessage", "RaftMessage", "long").until("4.3"),
            method(KafkaRaftClient.class, "handleInboundMessage", "RaftMessage", "CompletableFuture", "long")
                    .since("4.4")),
    BECOME_LEADER(method(KafkaRaftClient.class, "onBecomeLeader", "long")),
    UPGRADE(method(KafkaRaftClient.class, "upgradeKRaftVersion", "int", "KRaftVersion", "boolean").since("4.1")),
    SENDS_UPDATE_VOTER(method(KafkaRaftClient.class, "shouldSendUpdateVoteRequest", "FollowerState").since("4.1")),
    AUTO_JOIN(method(QuorumConfig.class, "autoJoin").since("4.2")),
    ACK_WHEN_COMMITTED(field(AddRaftVoterRequestData.class, "ackWhenCommitted").since("4.2")),

    ELECTION_TIMER(
            field(UnattachedState.class, "electionTimer"), field("ProspectiveState", "electionTimer").since("4.0"),
            field(CandidateState.class, "electionTimer"), field(ResignedState.class, "electionTimer")),
    BACKING_OFF(field(CandidateState.class, "isBackingOff").until("4.0")),
    BACKOFF_TIMER(field(CandidateState.class, "backoffTimer").until("4.0")),
    FETCH_TIMER(field(FollowerState.class, "fetchTimer")),
    UPDATE_VOTER_TIMER(
            field(FollowerState.class, "updateVoterPeriodTimer").until("4.1"),
            field(FollowerState.class, "updateVoterSetPeriodTimer").since("4.2")),
    CHECK_QUORUM_TIMER(field(LeaderState.class, "checkQuorumTimer")),
    BEGIN_QUORUM_EPOCH_TIMER(field(LeaderState.class, "beginQuorumEpochTimer")),
    CHANGES(field(LeaderState.class, "changeVoterState").since("4.4")),
    ADDITION(
            field(LeaderState.class, "addVoterHandlerState").until("4.3"),
            field("internals.ChangeVoterHandlerState", "addVoterHandlerState").since("4.4")),
    REMOVAL(
            field(LeaderState.class, "removeVoterHandlerState").until("4.3"),
            field("internals.ChangeVoterHandlerState", "removeVoterHandlerState").since("4.4")),
    CHANGE_TIMER(field(AddVoterHandlerState.class, "timeout"), field(RemoveVoterHandlerState.class, "timeout")),
    DEADLINE_MS(field(Timer.class, "deadlineMs")),

    HAS_FETCHED(field(FollowerState.class, "hasFetchedFromLeader").since("4.0")),
    FETCHED_VOTERS(field(LeaderState.class, "fetchedVoters")),
    VOTER_STATES(field(LeaderState.class, "voterStates")),
    LAST_FETCH_MS(field(LeaderState.ReplicaState.class, "lastFetchTimestamp")),
    HIGH_WATERMARK(
            field(UnattachedState.class, "highWatermark"), field("ProspectiveState", "highWatermark").since("4.0"),
            field(CandidateState.class, "highWatermark"), field(FollowerState.class, "highWatermark"),
            field(LeaderState.class, "highWatermark"));

    private static final int UNAVAILABLE = 69;
    /** Of the Kafka that runs. */
    private static int release = number("");

    private final List<Place> places;

    Member(Place... places) {
        this.places = List.of(places);
    }

    /** A member of a class in the releases `first` to `last`; a method has the simple names of its parameters' types. */
    private record Place(String type, String name, List<String> parameters, int first, int last) {
        Place since(String version) {
            return new Place(type, name, parameters, number(version), last);
        }

        Place until(String version) {
            return new Place(type, name, parameters, first, number(version));
        }

        boolean isInThisRelease() {
            return first <= release && release <= last;
        }

        boolean isMissing() {
            return typeOrNull() == null || (parameters == null ? field() == null : method() == null);
        }

        private Class<?> typeOrNull() {
            try {
                return Class.forName(type);
            } catch (ClassNotFoundException error) {
                return null;
            }
        }

        /** Null if the class has no such field. */
        Field field() {
            return accessible(Arrays.stream(typeOrNull().getDeclaredFields())
                    .filter(field -> field.getName().equals(name)));
        }

        /** Null if the class has no such method. */
        Method method() {
            return accessible(Arrays.stream(typeOrNull().getDeclaredMethods())
                    .filter(method -> method.getName().equals(name) && Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).toList().equals(parameters)));
        }

        private static <T extends AccessibleObject> T accessible(Stream<T> members) {
            T member = members.findFirst().orElse(null);
            if (member != null) {
                member.setAccessible(true);
            }
            return member;
        }

        @Override
        public String toString() {
            return type + " has no " + (parameters == null
                    ? "field " + name
                    : "method " + name + "(" + String.join(", ", parameters) + ")");
        }
    }

    private static Place field(Class<?> type, String name) {
        return new Place(type.getName(), name, null, 0, number(""));
    }

    /** In a class that some releases do not have, below the package of the adapter. */
    private static Place field(String type, String name) {
        return new Place(Member.class.getPackageName() + "." + type, name, null, 0, number(""));
    }

    private static Place method(Class<?> type, String name, String... parameters) {
        return new Place(type.getName(), name, List.of(parameters), 0, number(""));
    }

    /** 4001 for 4.1 and 4.1.2, without the patch version; more than any for what is no version. */
    private static int number(String version) {
        Matcher matcher = Pattern.compile("(\\d+)\\.(\\d+).*").matcher(version);
        return matcher.matches()
                ? 1000 * Integer.parseInt(matcher.group(1)) + Integer.parseInt(matcher.group(2))
                : Integer.MAX_VALUE;
    }

    /** End the process unless Kafka, of this version, has all members that the table has for its release. */
    static void require(String version) {
        release = number(version);
        String missing = Arrays.stream(values())
                .flatMap(member -> member.here().filter(Place::isMissing).map(place -> place + " (" + member + ")"))
                .collect(Collectors.joining(", "));
        if (!missing.isEmpty()) {
            System.err.println("Kafka " + version + " is not as the table in Member.java says: " + missing);
            System.exit(UNAVAILABLE);
        }
    }

    private Stream<Place> here() {
        return places.stream().filter(Place::isInThisRelease);
    }

    /** The place in the class of an object, or in one above it; null if the class has none. */
    private Place of(Object object) {
        return here().filter(place -> place.typeOrNull().isInstance(object)).findFirst().orElse(null);
    }

    /** Whether the release has it. */
    boolean isThere() {
        return here().findFirst().isPresent();
    }

    /** The value of the field; null if the object is of a class that has no such field. */
    Object get(Object object) {
        Place place = of(object);
        try {
            return place == null ? null : place.field().get(object);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    void set(Object object, Object value) {
        try {
            of(object).field().set(object, value);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    /**
     * Call the method.
     *
     * @throws RuntimeException what the method throws
     */
    Object call(Object object, Object... arguments) {
        try {
            return of(object).method().invoke(object, arguments);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof RuntimeException error) {
                throw error;
            }
            throw new IllegalStateException(thrown.getCause());
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }
}
