"""The inductive proof: elections and voter changes preserve committed records, for any log and number of replicas."""
