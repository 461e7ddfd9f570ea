"""Machine-checked proofs with Z3, for any number of replicas, where TLC checks a few.

- `transitions` and `theorems`: voter transitions in which any two majorities share a replica.
- `induction`: an inductive invariant that implies election safety and the durability of committed records.
- `translation` runs the reference's own functions on symbolic values, and `induction.refinement` replays runs of the
  reference as steps of the proof. They connect the proofs with the code.

Imports `kraft_spec` and its dependencies.
"""
