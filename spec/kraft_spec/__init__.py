"""TLA+ modules and models of KRaft elections, the rule registry, and TLC driven in process."""
