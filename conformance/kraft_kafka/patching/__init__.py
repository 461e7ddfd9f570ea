"""Kafka with one place of one class changed: a fix, or a mutant that the suite has to detect."""
