"""Reports of Kafka's findings as Kafka's own project takes them: a text for its tracker, and unit tests."""
