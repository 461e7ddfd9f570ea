"""The agent inside a Kafka that records its KafkaRaftClient, and the conversion of its lines to a trace."""
