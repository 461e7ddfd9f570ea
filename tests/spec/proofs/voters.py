"""Voter sets for the tests of the proofs: in short form, and drawn by Hypothesis."""

from hypothesis import strategies as st

from kraft_reference.identity import ReplicaKey, VoterSet


def key(text: str) -> ReplicaKey:
    """Return the key for `1` or `1-U1`."""
    replica_id, _, directory = text.partition("-")
    return ReplicaKey(int(replica_id), directory or None)


def voters(text: str) -> VoterSet:
    """Return the voter set for `1 2-U2 3`; an empty text is the empty set."""
    return frozenset(key(word) for word in text.split())


def drawn_voters(ids: int, directories: str = "AB", least: int = 1) -> st.SearchStrategy[VoterSet]:
    """Return a strategy for sets with unique ids below `ids`."""
    directory = st.sampled_from(directories)
    return st.dictionaries(st.integers(0, ids - 1), directory, min_size=least).map(
        lambda by_id: frozenset(ReplicaKey(*each) for each in by_id.items())
    )
