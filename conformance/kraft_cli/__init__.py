"""The command line `kraft-spec`: one module for each group of commands; nothing imports it."""
