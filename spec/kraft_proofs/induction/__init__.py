"""The inductive proof: elections and voter changes keep what is committed, for any number of replicas and any log."""
