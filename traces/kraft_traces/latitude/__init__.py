"""What the rules leave open: declared here once, for the trace checker, the vectors and the random runs.

- `decisions`: points at which a replica may go on in another state, as answers of a profile.
- `fetch_answers`: when a Fetch is answered, and with how much.
- `timers`: election timers that may be started otherwise.
- `bare_responses`: fields that a response of Kafka's protocol has no place for.
- `high_watermarks`: 0 in place of an unknown high watermark.
- `own_votes`: a leader's vote for itself, which goes without saying.
- `writes`, `ordering`: writes in portions, repeated or earlier, and the order of effects.
- `requests`: requests that may be sent besides those of the reference.
"""
