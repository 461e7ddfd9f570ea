"""Diagnosis of a stopped cluster from its files: logs, disks, and output of Kafka's tools."""
