"""Alternatives that the rules allow, declared once for the trace checker, the vectors and the random runs.

- `decisions`: settings of a profile that lead a replica to another state.
- `fetch_answers`: when the response to a Fetch is sent, and with how many records.
- `timers`: election timers that may be started differently, or not at all.
- `bare_responses`: fields that a response in Kafka's protocol does not have.
- `high_watermarks`: 0 in place of an unknown high watermark.
- `own_votes`: a leader's omitted vote for itself.
- `writes`, `ordering`: writes in portions, repeated or earlier, and the order of effects.
- `requests`: requests that may be sent in addition to those of the reference.
"""
