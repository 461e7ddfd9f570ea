"""What a night's findings depend on, as one fingerprint."""

from kraft_spec.fingerprint import fingerprint_of

_PACKAGES = ("kraft_reference", "kraft_spec", "kraft_traces", "kraft_conformance", "kraft_dev")
_SUFFIXES = (".py", ".tla", ".cfg", ".toml")


def fingerprint_of_sources() -> str:
    """SHA-256, in hexadecimal, over the names and texts of all Python, TLA+ and TOML files of the packages."""
    return fingerprint_of(_PACKAGES, _SUFFIXES)


def fingerprint_of_model() -> str:
    """The same over the TLA+ modules and the tables of `kraft_spec`: what a checkpoint of TLC depends on."""
    return fingerprint_of(("kraft_spec",), (".tla", ".toml"))
