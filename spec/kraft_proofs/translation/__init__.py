"""Translation of the actions of KRaft.tla, from SANY's tree, and proof that they are steps of the inductive proof."""
