"""How often the first rule that a failure names is the one that is broken."""
