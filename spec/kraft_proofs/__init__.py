"""Machine-checked proofs: which voter transitions keep every two majorities in touch, for any number of replicas."""
