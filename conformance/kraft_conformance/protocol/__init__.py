"""kraft-adapter/1: how the runner talks to an implementation, as JSON lines over standard input and output.

`messages` has the requests and replies, `partitions` those of the controllers that reassign partitions, `cluster` and
`features` what an adapter may lack, `unobserved` what it never shows, `parsing` the errors for what is none of it.
docs/conformance.md and docs/conformance-partitions.md say what an implementer needs to know.
"""
