"""The long forms of all checks, night after night: what was found, and what is different from the night before."""
