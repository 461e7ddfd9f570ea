"""The kraft-spec command line, on top of the reference, the model and the traces."""
