"""Kafka's wire: frames and control records of the quorum's messages, as bytes and as JSON.

`messages.toml` has the fields of every message and version; `decoding` and `encoding` walk them, so that an error says
which field, at which byte, and what was expected.
`data` has pairs of JSON and hex, made with kio's own codec for whole messages beside ours; those of clients' messages
are read and written again with that of kafka-python, which shares no code with it.
`translation` turns messages of a trace into Kafka's.

VoterAssignment (KIP-642) is not on Kafka's wire: it is this specification's own record, and has no bytes.
"""
