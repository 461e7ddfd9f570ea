"""One module for each command of `kraft-spec`."""
