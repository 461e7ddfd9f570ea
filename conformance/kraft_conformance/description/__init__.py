"""The quorum of a trace, as `kafka-metadata-quorum describe` shows one."""
