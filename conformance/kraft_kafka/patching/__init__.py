"""Patches of one place in one of Kafka's classes: a fix, or a mutant that the suite has to detect."""
