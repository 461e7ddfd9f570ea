"""Codec of Kafka's wire format: frames and control records of the quorum's messages, as bytes and as JSON.

`messages.toml` has the fields of every message and version; `decoding` and `encoding` follow it, so an error names the
field, the byte and the expectation.
`data` has pairs of JSON and hex, made with ours and, for whole messages, kio's codec; kafka-python, which shares no
code with it, reads and writes those of clients' messages again.
`translation` turns messages of a trace into Kafka's.

VoterAssignment (KIP-642) is this specification's own record: Kafka's protocol has no bytes for it.
"""
