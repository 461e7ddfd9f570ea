"""The rules and the TLA+ model, with TLC in this process.

- `rules`: the registry; a rule has a permanent id, a requirement level, a sentence, and the KIP section of its source.
- `tla/KRaft.tla` and its modules: the model; `models/checks` lists the TLC configurations of each model check.
- `mapping`: one table for both directions between Python values and model values; a test fails if it misses a field.
- `compiled`: the operators as Java, generated from what TLC's parser reads: the same results, faster.

Imports `kraft_simulation` and `kraft_reference`.
"""
