"""Findings played on whole, unmodified controllers: kafka.Kafka processes with real disks, over TCP on the loopback."""
