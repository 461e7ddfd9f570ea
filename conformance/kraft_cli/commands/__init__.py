"""Commands of `kraft-spec`, one module each."""
