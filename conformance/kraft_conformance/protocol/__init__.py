"""kraft-adapter/1, the protocol between runner and adapter: JSON lines over standard input and output.

`messages` has the requests and replies, `partitions` those of the controllers that reassign partitions, `unobserved`
the outputs that an adapter declares hidden, `parsing` the errors for malformed lines.
docs/conformance.md and docs/conformance-partitions.md are the guides for implementers.
"""
