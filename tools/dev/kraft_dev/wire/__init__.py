"""Pairs of Kafka's bytes and JSON in the package: their format, generation and checks."""
