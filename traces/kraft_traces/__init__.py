"""The kraft-trace/1 format: reading, writing and checking traces against the TLA+ model."""
