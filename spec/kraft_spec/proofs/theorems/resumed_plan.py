"""The finding on KIP-642: a new leader that resumes a plan has to commit in its own epoch first.

Read literally, KIP-642 asks only that the previous change of the set is committed. Then this may happen:

1. The old leader commits the target in epoch 1 and appends `First`, the next set of the plan, which reaches nobody of
   the base but itself.
2. The other voters elect a leader in epoch 2, which finds the committed target in its log, resumes the plan with
   another set, `Resumed`, and commits it.
3. The old leader is elected in epoch 3 by a majority of `First`, none of which has what was committed in epoch 2.

KIP-853, AddVoter, Handling, step 3 forbids step 2 here: first an entry of epoch 2 must be committed, by a majority
of the base. Rules: reassign.commit-before-next-step, voters.epoch-committed-before-change.
"""

from kraft_spec.proofs.linear import at_most
from kraft_spec.proofs.theorems.competing import one_change
from kraft_spec.proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_spec.proofs.venn import Diagram

_DIAGRAM = Diagram(
    "OldLeader",
    "Base",
    "First",
    "Resumed",
    "Elects",
    "OwnEpoch",
    "Commits",
    "ElectsAgain",
    within={
        "OldLeader": "Base",
        "Elects": "Base",
        "OwnEpoch": "Base",
        "Commits": "Resumed",
        "ElectsAgain": "First",
    },
)


def _resumed(case: str, *, adds: bool) -> Obligation:
    """The old leader is not elected again by replicas that lack what the new one committed."""
    diagram = _DIAGRAM
    old_leader, base, elects, commits = (diagram[name] for name in ("OldLeader", "Base", "Elects", "Commits"))
    own_epoch, elects_again = diagram["OwnEpoch"], diagram["ElectsAgain"]
    return Obligation(
        case,
        diagram,
        (
            diagram.singleton("one-old-leader", old_leader),
            one_change(diagram, "First", adds=adds),
            one_change(diagram, "Resumed", adds=adds),
            diagram.majority("elected-in-epoch-2", elects, base),
            diagram.disjoint("longer-log-refuses", old_leader, elects),
            diagram.majority("own-epoch-committed", own_epoch, base),
            diagram.majority("resumed-is-committed", commits, diagram["Resumed"]),
            at_most("new-leader-has-it", 1, diagram.size(elects & commits)),
            diagram.majority("elected-in-epoch-3", elects_again, diagram["First"]),
            diagram.inside("old-leader-votes-for-itself", old_leader, elects_again),
            diagram.disjoint("committed-is-lost", elects_again, commits),
        ),
        diagram.disjoint("voters-lack-the-own-epoch", elects_again, own_epoch),
    )


def _refuted(name: str, refuted: Obligation, *members: tuple[int, ...]) -> Weakening:
    everyone = refuted.diagram["Base"] | refuted.diagram["First"] | refuted.diagram["Resumed"]
    return Weakening(
        name,
        f"KIP-642 read literally, both leaders {name}: nothing of epoch 2 is committed before the plan is resumed",
        refuted.without("own-epoch-committed"),
        (refuted.diagram.size(refuted.diagram["Base"]), refuted.diagram.size(everyone)),
        Counterexample(dict(zip(refuted.diagram.names, members, strict=True))),
    )


def _resumed_plan() -> Theorem:
    add, remove = _resumed("add", adds=True), _resumed("remove", adds=False)
    return Theorem(
        "resumed-plan",
        "If a new leader commits an entry of its own epoch before it resumes a KIP-642 plan, no majority of the set "
        "that its predecessor left uncommitted can elect a leader without that entry.",
        (
            "reassign.commit-before-next-step",
            "reassign.new-leader-resumes",
            "voters.epoch-committed-before-change",
            "add-voter.check-order",
            "remove-voter.check-order",
        ),
        (add, remove),
        (
            _refuted(
                "add",
                add,
                (1,),
                (1, 2, 3, 4),
                (1, 2, 3, 4, 5),
                (1, 2, 3, 4, 6),
                (2, 3, 4),
                (2, 3),
                (2, 3, 6),
                (1, 4, 5),
            ),
            _refuted("remove", remove, (1,), (1, 2, 3, 4), (1, 2, 3), (2, 3, 4), (2, 3, 4), (2, 4), (2, 4), (1, 3)),
        ),
        "Both leaders follow the same plan from the same set, so both add or both remove.",
    )


THEOREMS = (_resumed_plan(),)
