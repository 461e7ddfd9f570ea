"""The measurements behind `kraft-spec bench`: functions that return what they measured as values."""
