"""The evidence that a safety rule carries weight: what TLC finds wrong with the model that does not keep it."""
