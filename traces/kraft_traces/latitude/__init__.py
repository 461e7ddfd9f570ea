"""What the rules leave open: declared here once, for the trace checker, the vectors and the random runs.

- `decisions`: points at which a replica may go on in another state, as answers of a profile.
- `fetch_answers`: when a Fetch is answered, and with how much.
- `outputs`: outputs of a step that may be missing or have other values.
- `requests`: requests that may be sent besides those of the reference.
"""
