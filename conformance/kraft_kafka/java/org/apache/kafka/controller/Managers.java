package org.apache.kafka.controller;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/** The managers of one controller of Kafka: what the records that are replayed make of them is all that they know. */
final class Managers {
    private static final ConfigDef OF_TOPICS = new ConfigDef()
            .define(TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG, ConfigDef.Type.BOOLEAN, false,
                    ConfigDef.Importance.HIGH, "")
            .define(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, ConfigDef.Type.INT, 1, ConfigDef.Importance.HIGH, "");

    final ReplicationControlManager replication;
    final ClusterControlManager cluster;
    private final ConfigurationControlManager configuration;
    private final FeatureControlManager features;

    Managers() {
        SnapshotRegistry registry = new SnapshotRegistry(new LogContext());
        features = new FeatureControlManager.Builder().setSnapshotRegistry(registry).build();
        replay(new FeatureLevelRecord()
                .setName(MetadataVersion.FEATURE_NAME)
                .setFeatureLevel(MetadataVersion.latestProduction().featureLevel()));
        configuration = new ConfigurationControlManager.Builder()
                .setSnapshotRegistry(registry)
                .setFeatureControl(features)
                .setKafkaConfigSchema(new KafkaConfigSchema(Map.of(ConfigResource.Type.TOPIC, OF_TOPICS), Map.of()))
                .build();
        cluster = new ClusterControlManager.Builder()
                .setSnapshotRegistry(registry)
                .setFeatureControlManager(features)
                .setBrokerShutdownHandler((broker, isClean, records) -> { })
                .build();
        cluster.activate();
        replication = new ReplicationControlManager.Builder()
                .setSnapshotRegistry(registry)
                .setConfigurationControl(configuration)
                .setClusterControl(cluster)
                .setFeatureControl(features)
                .build();
    }

    void replayAll(List<ApiMessageAndVersion> records) {
        records.forEach(record -> replay(record.message()));
    }

    void replay(ApiMessage message) {
        if (message instanceof FeatureLevelRecord record) {
            features.replay(record);
        } else if (message instanceof ConfigRecord record) {
            configuration.replay(record);
        } else if (message instanceof RegisterBrokerRecord record) {
            cluster.replay(record, record.brokerEpoch());
        } else if (message instanceof BrokerRegistrationChangeRecord record) {
            cluster.replay(record);
        } else if (message instanceof TopicRecord record) {
            replication.replay(record);
        } else if (message instanceof PartitionRecord record) {
            replication.replay(record);
        } else if (message instanceof PartitionChangeRecord record) {
            replication.replay(record);
        } else if (message instanceof RemoveTopicRecord record) {
            replication.replay(record);
        } else {
            throw new IllegalStateException("a record that no event here leads to: " + message);
        }
    }

    /** The topic's id, or one that no topic has. */
    Uuid topicId(String topic) {
        Uuid id = replication.getTopicId(topic);
        return id == null ? Uuid.randomUuid() : id;
    }

    Set<Integer> brokers() {
        return cluster.brokerRegistrations().keySet();
    }
}
