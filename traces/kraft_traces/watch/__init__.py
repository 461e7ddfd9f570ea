"""Check of traces while they grow: files, folders in which files appear, or standard input."""
