"""Reports of findings for the Kafka project: an issue text, and unit tests."""
