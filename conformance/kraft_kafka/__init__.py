"""Apache Kafka's releases, wire protocol and processes.

- `adapter` builds an adapter around the KafkaRaftClient of a release (`releases`, `jars`, `unpinned`; Java sources in
  `java`); `whole` makes clusters of controllers, each a process of its own (`live/process.py` starts it).
- `wire` is the codec of Kafka's protocol; `node` is the reference as a process that Kafka's own tools talk to.
- `live` tests running controllers over TCP, and records their messages.
- `findings` has the schedules, `differences` where and why Kafka differs, `patching` fixes and mutants of Kafka.

The package imports `kraft_conformance` and its dependencies.
"""
