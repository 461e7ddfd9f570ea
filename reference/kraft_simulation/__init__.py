"""The deterministic cluster that drives replicas: virtual time, network, disks, faults, one seeded generator."""
