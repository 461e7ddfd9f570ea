"""Kafka's own tests of the raft client, run with the agent: a trace of each client, judged by the model."""
