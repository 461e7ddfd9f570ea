"""Kafka with one place of one class changed: a fix, or a bug that the suite has to find."""
