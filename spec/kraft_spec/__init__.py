"""The rules and the TLA+ model, with TLC in this process.

What is a rule?
    An entry of `rules`: a permanent id, a level, a sentence, and the section of the KIP that it comes from.

Where is the model?
    `tla/KRaft.tla` and the modules that it extends; `models/checks` names the TLC configurations of each model check.

How do Python values become values of the model?
    `mapping` has one table for both directions; a test fails if a field of the reference is in neither.

What is the compiled model?
    The operators as Java, generated from what TLC's parser reads (`compiled`): the same answers, sooner.

It imports `kraft_simulation` and `kraft_reference`.
"""
