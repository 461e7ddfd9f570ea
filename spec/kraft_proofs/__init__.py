"""Machine-checked proofs with Z3, for any number of replicas where TLC checks a few.

What is proved?
    `transitions` and `theorems`: which voter transitions keep every two majorities in touch.
    `induction`: an inductive invariant from which election safety and committed records follow.

What ties the proofs to the code?
    `translation` runs the reference's own functions on symbolic values; `induction.refinement` replays runs of the
    reference as steps of the proof.

It imports `kraft_spec` and what that imports.
"""
