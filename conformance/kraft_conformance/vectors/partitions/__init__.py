"""kraft-partition-vector/1: a state of the controllers of partitions, what happens to them, and what they must do."""
