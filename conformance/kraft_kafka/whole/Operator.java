import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeMetadataQuorumOptions;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.RaftVoterEndpoint;
import org.apache.kafka.clients.admin.RemoveRaftVoterOptions;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Kafka's AdminClient, steered by lines: TAG COMMAND SIDE HOST:PORT MILLIS ARGUMENTS.
 *
 * <p>SIDE is the controller beside which the operator sits: it names the client, so that a proxy can cut it off too.
 * Each reply is one line: TAG ok TEXT or TAG error TEXT.
 */
public final class Operator {
    private static final ConfigResource ALL_BROKERS = new ConfigResource(ConfigResource.Type.BROKER, "");
    private static final Map<String, Admin> CLIENTS = new ConcurrentHashMap<>();

    private static Admin client(String side, String bootstrap) {
        return CLIENTS.computeIfAbsent(side, name -> Admin.create(Map.of(
            "bootstrap.controllers", bootstrap, "client.id", "operator-at-" + name,
            "request.timeout.ms", "15000", "default.api.timeout.ms", "15000", "metadata.max.age.ms", "1000",
            "reconnect.backoff.max.ms", "200", "retry.backoff.ms", "50", "retry.backoff.max.ms", "100")));
    }

    private static Collection<AlterConfigOp> set(String name, String value) {
        return List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
    }

    private static String run(String[] words) throws Exception {
        Admin admin = client(words[2], words[3]);
        int millis = Integer.parseInt(words[4]);
        switch (words[1]) {
            case "set":
                admin.incrementalAlterConfigs(
                    Map.of(ALL_BROKERS, set(words[5], words[6])), new AlterConfigsOptions().timeoutMs(millis)).all().get();
                return words[5] + "=" + words[6];
            case "burst": // One request, and one record for each resource.
                Map<ConfigResource, Collection<AlterConfigOp>> changes = new HashMap<>();
                for (int i = 0; i < Integer.parseInt(words[5]); i++) {
                    changes.put(new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "burst-" + i), set("interval.ms", "60000"));
                }
                admin.incrementalAlterConfigs(changes, new AlterConfigsOptions().timeoutMs(millis)).all().get();
                return words[5] + " records";
            case "get":
                return admin.describeConfigs(List.of(ALL_BROKERS)).all().get().get(ALL_BROKERS).entries().stream()
                    .filter(entry -> entry.source() == ConfigEntry.ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
                    .map(entry -> entry.name() + "=" + entry.value()).sorted().collect(Collectors.joining(" "));
            case "remove":
                admin.removeRaftVoter(Integer.parseInt(words[5]), Uuid.fromString(words[6]),
                    new RemoveRaftVoterOptions().timeoutMs(millis)).all().get();
                return words[5];
            case "add":
                String[] place = words[7].split(":");
                admin.addRaftVoter(Integer.parseInt(words[5]), Uuid.fromString(words[6]),
                    Set.of(new RaftVoterEndpoint("CONTROLLER", place[0], Integer.parseInt(place[1])))).all().get();
                return words[5];
            case "quorum":
                QuorumInfo quorum = admin.describeMetadataQuorum(
                    new DescribeMetadataQuorumOptions().timeoutMs(millis)).quorumInfo().get();
                return quorum.leaderId() + " " + quorum.leaderEpoch() + " " + quorum.highWatermark() + " "
                    + quorum.voters().stream().map(voter -> voter.replicaId() + "").collect(Collectors.joining(","));
            default:
                throw new IllegalArgumentException(words[1]);
        }
    }

    private static synchronized void reply(String line) {
        System.out.println(line.replace('\n', ' '));
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            String[] words = line.split(" ");
            threads.submit(() -> {
                try {
                    reply(words[0] + " ok " + run(words));
                } catch (ExecutionException error) {
                    reply(words[0] + " error " + error.getCause());
                } catch (Exception error) {
                    reply(words[0] + " error " + error);
                }
            });
        }
        System.exit(0);
    }
}
