"""KRaft elections in plain Python: standard library only, no I/O, no clock, no randomness of its own."""
