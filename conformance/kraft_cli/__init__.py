"""The command line `kraft-spec`, with one module for each group of commands; no package imports it."""
