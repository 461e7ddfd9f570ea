"""The table of the model checks.

A check is one entry of `CHECKS` and its files tla/<module>.tla and tla/<configuration>.cfg.  Most must hold; the
others are broken on purpose (a rule switched off, a guard taken out), and must be caught by the property named.
"""

from kraft_spec.models.check import ModelCheck, UnknownCheck
from kraft_spec.tlc.model_check import Simulation

GROUPS = ("smoke", "ci", "nightly")
"""smoke: seconds; ci: exhaustive, minutes; nightly: larger, with checkpoints."""

NIGHTLY_SECONDS = 3600.0
"""Time for each check of the nightly group; what it did not finish is in its checkpoint, for the next night."""

_ELECTION = frozenset(
    {
        "ElectionTimeout",
        "Poll",
        "HandleVoteRequest",
        "HandleVoteResponse",
        "HandleBeginQuorumEpochRequest",
        "HandleBeginQuorumEpochResponse",
    }
)
_FETCH = frozenset({"PollFetch", "HandleFetchRequest", "HandleFetchResponse"})

CHECKS: tuple[ModelCheck, ...] = (
    ModelCheck(
        name="smoke",
        module="MCElection",
        configuration="MCSmoke",
        groups=("smoke", "ci"),
        bounds="3 voters from the first start, epochs 1 and 2, replicas 1 and 2 time out",
        leaves_out="Fetch, hand-over, faults: the other slices",
        fires=_ELECTION | {"FetchTimeout"},
    ),
    ModelCheck(
        name="elected-is-reached",
        module="MCElection",
        configuration="MCElectedIsReached",
        groups=("ci",),
        bounds="as smoke; a probe: the state in which other slices start is reached, so the probe must fail",
        leaves_out="as smoke",
        violates="NobodyElectedQuietly",
    ),
    ModelCheck(
        name="election",
        module="MCElection",
        configuration="MCElection",
        groups=("ci",),
        bounds="3 voters from the first start, epochs 1 and 2, all time out",
        leaves_out="Fetch (replication, stability), hand-over (handover), faults (network, crash)",
        fires=_ELECTION | {"FetchTimeout"},
    ),
    ModelCheck(
        name="replication",
        module="MCReplication",
        configuration="MCReplication",
        groups=("ci",),
        bounds="3 voters, starts with an elected leader, epochs 1 and 2, replica 2 times out, logs of 3 records",
        leaves_out="a third epoch (nightly), Fetch without a known leader (network), hand-over, faults",
        fires=_ELECTION | _FETCH | {"FetchTimeout", "ClientAppend"},
    ),
    ModelCheck(
        name="crash",
        module="MCCrash",
        configuration="MCCrash",
        groups=("ci",),
        bounds="3 voters, starts with an elected leader, epochs 1 and 2, two crashes of replicas 1 and 2, at rest "
        "and after every prefix of effects, replica 3 does not fetch",
        leaves_out="crashes and fetches of replica 3 (nightly), client appends, network faults",
        fires=_ELECTION
        | _FETCH
        | {"FetchTimeout", "Crash", "Restart", "HandleEndQuorumEpochRequest", "HandleEndQuorumEpochResponse"},
    ),
    ModelCheck(
        name="mixed",
        module="MCMixed",
        configuration="MCMixed",
        groups=("ci",),
        bounds="3 voters from the first start, replica 2 without Pre-Vote, replica 3 ignores it, epochs 1 and 2, "
        "replicas 1 and 2 time out",
        leaves_out="timeouts of the third (nightly), Fetch, hand-over, faults, an upgrade while it runs",
        fires=_ELECTION | {"FetchTimeout", "AnswerUnsupportedVersion"},
        coverage=True,
    ),
    ModelCheck(
        name="handover",
        module="MCHandover",
        configuration="MCHandover",
        groups=("ci",),
        bounds="3 voters, starts with an elected leader that resigns, epochs 1 and 2",
        leaves_out="appends, crashes, network faults",
        fires=_ELECTION
        | _FETCH
        | {
            "CheckQuorumTimeout",
            "BeginQuorumEpochTimeout",
            "Shutdown",
            "HandleEndQuorumEpochRequest",
            "HandleEndQuorumEpochResponse",
        },
        coverage=True,
    ),
    ModelCheck(
        name="network",
        module="MCNetwork",
        configuration="MCNetwork",
        groups=("ci",),
        bounds="2 voters from the first start, epoch 1, one append, 3 messages on their way: lost, doubled, cut off, "
        "given up",
        leaves_out="a third voter and a second epoch with these faults (simulation)",
        fires=_ELECTION | _FETCH | {"ClientAppend", "RequestTimeout", "DropMessage", "CutLink", "HealLink"},
        coverage=True,
    ),
    ModelCheck(
        name="changes",
        module="MCChanges",
        configuration="MCChanges",
        groups=("ci",),
        bounds="1 voter and 1 observer at kraft.version 1, one VotersRecord, one crash, one disk replaced",
        leaves_out="elections between voters sets: their rules are not in the model yet",
        fires=_FETCH | {"AppendVoters", "ReplaceDisk", "Crash", "Restart", "FetchTimeout"},
        coverage=True,
    ),
    ModelCheck(
        name="stability",
        module="MCStability",
        configuration="MCStability",
        groups=("ci",),
        bounds="3 voters, a stable leader and follower; the third in any state, its timers, cuts and a crash free",
        leaves_out="appends; a leader that resigned in an earlier epoch; two cuts or crashes at once (nightly)",
    ),
    ModelCheck(
        name="stability-without-prevote",
        module="MCStability",
        configuration="MCStabilityWithoutPreVote",
        groups=("ci",),
        bounds="as stability, no voter supports Pre-Vote",
        leaves_out="as stability",
        violates="NoNeedlessElection",
    ),
    ModelCheck(
        name="stability-without-refusal",
        module="MCStability",
        configuration="MCStabilityWithoutRefusal",
        groups=("ci",),
        bounds="as stability, prevote.follower.rejects-after-fetch switched off",
        leaves_out="as stability",
        violates="NoNeedlessElection",
    ),
    *(
        ModelCheck(
            name=f"broken-{name}-{form}",
            module="MCBroken",
            configuration=f"MCBroken{configuration}{form.capitalize()}",
            groups=("ci",),
            bounds=f"as replication, {without}",
            leaves_out="as replication",
            violates=violates,
        )
        for name, configuration, without, forms in (
            (
                "log-check",
                "LogCheck",
                "one record an epoch, votes without the log check",
                {"whole": "LeaderCompleteness", "local": "LocalForms", "implies": ""},
            ),
            (
                "divergence",
                "Divergence",
                "one record an epoch, fetches without the divergence check",
                {"whole": "CommittedNeverLost", "local": "LocalForms", "implies": ""},
            ),
            (
                "log-matching",
                "LogMatching",
                "fetches without the divergence check, LogMatching alone",
                {"whole": "LogMatching", "local": "LogMatchingLocally"},
            ),
        )
        for form, violates in forms.items()
    ),
    *(
        ModelCheck(
            name=f"{slice_name}-nightly",
            module=f"MC{slice_name.capitalize()}",
            configuration=f"MC{slice_name.capitalize()}Nightly",
            groups=("nightly",),
            bounds=bounds,
            leaves_out=f"as {slice_name}, and what the time limit cuts off: see the queue left",
            time_limit_seconds=NIGHTLY_SECONDS,
        )
        for slice_name, bounds in (
            ("election", "as election, epochs 1 to 3"),
            ("replication", "as replication, epochs 1 to 3, all replicas time out"),
            ("crash", "as crash, all replicas crash and fetch"),
            ("mixed", "as mixed, all replicas time out"),
            ("stability", "as stability, two crashes, any number of cuts"),
        )
    ),
    ModelCheck(
        name="simulation",
        module="Sim",
        configuration="Sim",
        groups=("nightly",),
        bounds="3 voters, one without Pre-Vote, and an observer; all actions and faults; epochs up to 6",
        leaves_out="exhaustiveness; voter changes other than a VotersRecord with the same voters",
        simulation=Simulation(behaviours=None, depth=120, seed=1),
        time_limit_seconds=NIGHTLY_SECONDS,
    ),
)


def find_check(name: str) -> ModelCheck:
    """Return the check of that name.

    Raises:
        UnknownCheck: There is none.
    """
    for check in CHECKS:
        if check.name == name:
            return check
    raise UnknownCheck(f"no model check {name!r}; there are {', '.join(check.name for check in CHECKS)}")


def checks_of(group: str) -> tuple[ModelCheck, ...]:
    """Return the checks of a group, in their order.

    Raises:
        UnknownCheck: There is no such group.
    """
    if group not in GROUPS:
        raise UnknownCheck(f"no group {group!r} of model checks; there are {', '.join(GROUPS)}")
    return tuple(check for check in CHECKS if group in check.groups)
