"""The actions of KRaft.tla, translated from SANY's tree, are steps of the inductive proof."""
