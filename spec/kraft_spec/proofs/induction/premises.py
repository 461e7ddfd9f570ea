"""Which premises to try for an obligation that needs no script.

Two lists serve for most of them. The lists here by name are those without which the search for a proof would take long;
leaving one out loses time, or the proof, but never soundness. Each list is a text, the names with blanks between them.
"""

from collections.abc import Iterable, Iterator, Mapping

from kraft_spec.proofs.induction.cases import ORDER, SETS

VOTING = "log-ends-written candidate-log-is-older one-log-per-candidacy votes-were-asked-for vote-once-per-epoch"
"""Invariants that say nothing of logs: with them alone a search is over at once."""

SAYS_THERE_IS = (
    "leader-has-majority entries-have-leaders committed-by-majority applied-was-committed "
    "acknowledged-is-kept acknowledged-is-kept-to-vote follower-has-leader votes-respect-acknowledged "
    "one-voter-change-at-a-time"
)
"""Invariants that say that something exists: together they can name new things without end."""

_KEPT = "acknowledged-is-kept log-ends-written prefix-transitive"
_LEADERS = "leader-has-majority candidate-log-is-older one-log-per-candidacy"
_SHARED = (
    "keeps-what-they-share answers-the-last-request answer-was-written acknowledged-was-written "
    "log-ends-written prefix-transitive"
)

_FOLLOWER = "follower-has-leader election-safety"
_CANDIDACIES = f"{_FOLLOWER} keeps-what-they-share answer-was-written log-ends-written prefix-transitive"

LISTED: Mapping[str, str] = {
    "stand/leader-has-its-epoch": _LEADERS,
    "stand/acknowledged-is-kept-to-vote": _KEPT,
    "stand/votes-respect-acknowledged": _KEPT,
    "vote/candidate-log-on-disk": "candidate-log-is-older",
    "vote/leader-has-its-epoch": _LEADERS,
    "vote/acknowledged-is-kept-to-vote": "acknowledged-is-kept",
    "become-leader/leader-completeness": "new-leader-is-complete",
    "become-leader/election-safety": "new-leader-is-the-only-one",
    "commit/leader-completeness": "later-leaders-keep-it",
    "become-leader/epoch-stands-on-its-log": "nothing-written-before",
    "become-leader/leader-has-its-epoch": (
        "nothing-written-before log-ends-written candidate-log-on-disk prefix-antisymmetric"
    ),
    "commit/committed-by-majority": (
        f"{_LEADERS} leader-has-its-epoch log-ends-written logs-have-no-gaps epochs-ascend epochs-natural "
        "bootstrap-has-voters"
    ),
    "learn-epoch/leader-has-its-epoch": _LEADERS,
    "learn-epoch/acknowledged-is-kept-to-vote": "acknowledged-is-kept",
    "fetch-records/leader-has-its-epoch": _FOLLOWER,
    "truncate/leader-has-its-epoch": _FOLLOWER,
    "load-snapshot/leader-has-its-epoch": _FOLLOWER,
    "acknowledge/leader-has-its-epoch": _FOLLOWER,
    "fetch-records/log-ends-written": (
        "answer-was-written agreeing-is-the-log-end logs-have-no-gaps epochs-ascend prefix-transitive"
    ),
    "commit/applied-was-committed": "prefix-reflexive committed-by-majority",
    "learn-high-watermark/applied-was-committed": (
        "agreeing-is-the-log-end watermark-is-in-the-leaders-log prefix-transitive prefixes-comparable "
        "prefix-antisymmetric offsets-ascend"
    ),
    "sync/leader-has-its-epoch": "prefix-antisymmetric",
    "truncate/acknowledged-is-kept": _SHARED,
    "load-snapshot/log-ends-written": "answer-was-written logs-have-no-gaps epochs-ascend prefix-reflexive",
    "load-snapshot/acknowledged-is-kept": _SHARED,
    "acknowledge/acknowledged-was-written": (
        f"{_LEADERS} follower-has-leader log-ends-written logs-have-no-gaps bootstrap-has-voters epochs-natural"
    ),
    "stand-again/votes-respect-acknowledged": _KEPT,
    "truncate/candidacies-share": _CANDIDACIES,
    "load-snapshot/candidacies-share": _CANDIDACIES,
    "sync/candidacies-share": "prefix-transitive",
    "acknowledge/candidacies-share": "log-ends-written prefix-transitive",
    "crash/candidacies-share": "prefix-transitive",
    "safety/state-machine-safety": "applied-was-committed committed-in-one-order prefix-transitive prefixes-comparable",
    "safety/committed-in-one-order": (
        f"leader-completeness committed-by-majority entries-have-leaders log-matching logs-have-no-gaps {ORDER}"
    ),
}
"""Obligation to premises, beside the invariant itself and the guard."""


def attempts(
    name: str, known: Iterable[str], invariants: Iterable[str], always: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """Lists of premises for an obligation, in the order in which to try them.

    Args:
        name: The obligation, `part/invariant`.
        known: All facts.
        invariants: Those of them that are invariants.
        always: Facts that are in each list: the guard, and the invariant itself.
    """
    facts = frozenset(known)

    def listed(chosen: str) -> tuple[str, ...]:
        return tuple(fact for fact in dict.fromkeys((*always, *chosen.split())) if fact in facts)

    if name in LISTED:
        yield listed(LISTED[name])
    yield listed(f"epochs-natural offsets-natural {VOTING}")
    plain = " ".join(invariant for invariant in invariants if invariant not in SAYS_THERE_IS.split())
    yield listed(f"{ORDER} {SETS} {plain}")
