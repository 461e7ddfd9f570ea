"""All that speaks Apache Kafka: its releases, its bytes, its processes.

What runs Kafka's classes?
    `adapter` builds an adapter around the KafkaRaftClient of a release (`releases`, `jars`, `unpinned`; Java sources in
    `java`); `whole` starts controllers as processes.

What speaks Kafka's protocol?
    `wire` has the codec; `node` is the reference as a process that Kafka's own tools talk to.

How is a process judged that was not built for it?
    `live` asks running controllers over TCP, and records what they send each other.

What was found?
    `findings` has the schedules, `differences` where and why Kafka differs, `patching` fixes and mutants of
    Kafka.

It imports `kraft_conformance` and what that imports.
"""
