"""Failures of attribution itself: the verdict is reported without rules, and says why they are missing."""

RAISES = False
"""True in the tests of kraft-spec, which fail on such a failure."""


def defect_line(error: Exception) -> str:
    """Describe an exception of attribution in one line of a verdict.

    Raises:
        Exception: the error itself, if `RAISES`.
    """
    if RAISES:
        raise error
    words = " ".join(str(error).split())
    return f"the rules are not ranked, the verdict stands: {type(error).__name__}: {words}; please report it"
