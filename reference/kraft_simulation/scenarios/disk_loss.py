"""Scenario 8: a voter loses its disk (the table of KIP-996)."""

from dataclasses import replace

from kraft_reference.outcome import Refusal
from kraft_reference.profile import KIP, with_settings
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, elect, start, win, win_pre_vote
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()
_LOSS = ("CommittedNeverLost", "LeaderCompleteness")
_LOSS_BY_OTHERS = ("CommittedNeverLost", "IdentityBinding", "LeaderCompleteness")

VOTER_KEY = "vote.voter-key"
REPLICA_KEY = "fetch.replica-key"


def _static(d: Director) -> None:
    """T0 and T1 at kraft.version 0, where the log starts with one record, the LeaderChange."""
    start(d, 1, 5)
    d.step("T0")
    d.append(1, end_offset=3)
    d.replicate(3, 1)
    _lost_disk(d)


def _with_uuids(d: Director) -> None:
    """T0 and T1 at kraft.version 1, where the log starts with a batch of three, so that all ends are larger by two."""
    elect(d, 1, 5)
    d.step("T0")
    d.fetch(2, 1)
    d.append(1, end_offset=5)
    for _ in range(4):
        d.fetch(3, 1)
    d.fetched(2, True)
    _lost_disk(d, more=2)


def _lost_disk(d: Director, more: int = 0) -> None:
    d.roles("L(5)", "F(5,1)", "F(5,1)")
    d.end_offsets(3 + more, 1 + more, 3 + more)
    d.high_watermark(1, 3 + more)
    d.step("T1: crash(3), disk empty")
    d.crash(3)
    d.replace_disk(3, "U3'")
    d.end_offsets(3 + more, 1 + more, 0)
    d.step("T2: restart(3), which learns epoch 5")
    d.restart(3)
    d.roles("L(5)", "F(5,1)", "U(0)")


@VARIANTS.variant("with-the-rule", cluster(3, fetch_max_records=1))
def uuid_protects(d: Director) -> None:
    """kraft.version 1: (3,U3') answers INVALID_REQUEST; no leader and no loss until N1 returns."""
    # The new disk does not vote in the name of the old one: no leader, no loss, until N1 returns.
    _observer(d)

    def one_round() -> None:
        d.pre_vote(2, 3, "INVALID_REQUEST")
        d.check("not counted", (d.state(2).granted, d.state(2).rejected), (frozenset({2}), frozenset()))
        d.roles("stopped", "P(5,1)", "U(5)")
        d.election_timeout(2)
        d.roles("stopped", "F(5,1)", "U(5)")
        d.fetch_timeout(2)

    one_round()
    d.lasso(one_round)
    d.step("N1 returns and leads")
    d.restart(1)
    d.roles("R(5)", "P(5,1)", "U(5)")
    d.election_timeout(1)
    d.election_timeout(1)
    d.roles("P(6)", "P(5,1)", "U(5)")
    d.pre_vote(1, 2, "granted")
    d.vote(1, 2, "granted")
    d.roles("L(7)", "U(7,voted=1)", "U(5)")
    d.end_offsets(6, 3, 0)


@VARIANTS.variant("static-ids-without-pre-vote", cluster(3, static=True, pre_vote=False), *_LOSS, "NoNeedlessElection")
def table_without_pre_vote(d: Director) -> None:
    """As in the table: the committed offsets 1 and 2 are lost."""
    # Reading: T6 says that N1 loses offsets 1 and 2. It published them as committed and refuses to cut them; after a
    # restart, which forgets the high watermark, it does cut them.
    _static(d)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.step("T2: N3's election")
    d.fetch_timeout(3)
    d.vote(3, 1, "refused")
    d.vote(3, 2, "refused")
    d.step("T3: not elected, its log is shorter")
    d.roles("U(6,voted=none)", "U(6,voted=none)", "C(6)")
    d.step("T4: et(2) before et(1)")
    d.election_timeout(2)
    d.roles("U(6)", "C(7)", "C(6)")
    d.step("T5: v(2>1), v(2>3)")
    d.vote(2, 1, "refused")
    d.vote(2, 3, "granted")
    d.step("T6")
    d.roles("U(7,voted=none)", "L(7)", "U(7,voted=2)")
    announce(d, 2)
    d.roles("F(7,2)", "L(7)", "F(7,2)")
    d.fetch(1, 2)
    d.check("N1's refusal", d.occurrences[-1].refusal, Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
    d.end_offsets(3, 2, 0)
    d.crash(1)
    d.restart(1)
    d.fetch(1, 2)
    d.end_offsets(1, 2, 0)


@VARIANTS.variant("static-ids", cluster(3, static=True))
def static_catches_up(d: Director) -> None:
    """No election; N3 catches up."""
    # Pre-Vote takes the trigger away: no election, N3 catches up.
    _static(d)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch_timeout(3)
    d.roles("L(5)", "F(5,1)", "P(5,1)")
    d.step("T2: pv(3>1), pv(3>2)")
    d.pre_vote(3, 1, "refused")
    d.pre_vote(3, 2, "refused")
    d.roles("L(5)", "F(5,1)", "F(5,1)")
    d.step("N3 fetches and catches up")
    d.fetch(3, 1)
    d.end_offsets(3, 1, 3)


@VARIANTS.variant("static-ids-leader-crashes", cluster(3, static=True), *_LOSS)
def static_leader_crashes(d: Director) -> None:
    """N1 crashes before the catch-up: the same loss."""
    # If N1 crashes before the catch-up, the loss is the same: Pre-Vote does not make disk loss safe.
    _static(d)
    d.step("N1 crashes between T1 and the catch-up; ft(2)")
    d.crash(1)
    d.fetch_timeout(2)
    if d.has_pre_vote(2):
        d.pre_vote(2, 3, "granted")
        d.roles("stopped", "C(6)", "U(5)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(6)", "U(6,voted=2)")
    d.end_offsets(3, 2, 0)


def _stands_on_a_new_disk(d: Director) -> None:
    """All have every record, and N2 has voted for N3 in epoch 6; (3,U3') comes to be a Candidate of that epoch."""
    start(d, 1, 5)
    d.append(1, end_offset=3)
    d.replicate(2, 1)
    d.replicate(3, 1)
    d.end_offsets(3, 3, 3)
    d.step("N1 crashes; N3 C(6) has the vote of N2, and does not hear of it")
    d.crash(1)
    d.fetch_timeout(3)
    d.vote(3, 2, "granted", "lost")
    d.step("N2 and N3 start again, N3 with an empty disk and alone, until it is Candidate of epoch 6")
    d.crash(2, 3)
    d.replace_disk(3, "U3'")
    d.restart(2)
    d.cut(3, 2)
    d.restart(3)
    while d.state(3).epoch < 6:
        d.election_timeout(3)
    d.heal(3, 2)
    d.roles("stopped", "U(6,voted=3)", "C(6)")


@VARIANTS.variant("vote-for-the-id", cluster(3, static=True, pre_vote=False), *_LOSS)
def vote_is_repeated(d: Director) -> None:
    """N2 does not know the directory of its vote any more, and gives it again: all records are lost."""
    _stands_on_a_new_disk(d)
    d.vote(3, 2, "granted")
    d.roles("stopped", "U(6,voted=3)", "L(6)")
    d.end_offsets(3, 3, 1)


_REMEMBERS = with_settings(KIP, "kip-remembers-the-directory", voted_directory_at_version_0="remembered")


@VARIANTS.variant("vote-for-the-disk", cluster(3, static=True, pre_vote=False, profile=_REMEMBERS))
def vote_is_spent(d: Director) -> None:
    """With the directory of its vote in the file N2 refuses the new disk, and nothing is lost."""
    _stands_on_a_new_disk(d)
    d.vote(3, 2, "refused")
    d.roles("stopped", "U(6,voted=3)", "C(6)")


def _observer(d: Director) -> None:
    _with_uuids(d)
    d.step("(3,U3') was formatted without a list: it is not in its own set, which is empty")
    d.voters(3, frozenset())
    d.never_nominates(3)
    d.step("N1 crashes; ft(2)")
    d.crash(1)
    d.fetch_timeout(2)
    d.roles("stopped", "P(5,1)", "U(0)")
    d.step("pv(2>3), addressed to (3,U3)")


@VARIANTS.variant(
    "level-1-without-directory-ids", replace(cluster(3, static=True, fetch_max_records=1), kraft_version=1), *_LOSS
)
def level_1_leader_crashes(d: Director) -> None:
    """kraft.version 1 with a set that names no directory ids: the same loss."""
    # Entries without directory ids name any disk: the empty one votes, although it is in no set of its own.
    _with_uuids(d)
    d.voters(3, frozenset())
    d.step("N1 crashes; ft(2); (3,U3') takes the place of voter 3")
    d.crash(1)
    d.fetch_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(6)", "U(6,voted=2)")
    d.end_offsets(5, 4, 0)


@VARIANTS.variant("without-voter-key", cluster(3, fetch_max_records=1), *_LOSS_BY_OTHERS, mutants=(VOTER_KEY,))
def without_voter_key(d: Director) -> None:
    """The new disk votes in the name of the old one: the loss is back."""
    _observer(d)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(6)", "U(6,voted=2)")
    d.end_offsets(5, 4, 0)


def _wrong_disk(d: Director, high_watermark: int) -> None:
    """N3 runs on a foreign disk (3,U3') first, fetches, and then gets its own disk (3,U3) back.

    Reading: in the text U3 is the older disk with LEO 3, put back after U3' was used.  A disk that is put back
    is not among the events; so here N3's own disk comes second and is empty, as it was formatted, which is all
    that (3,U3) ever wrote.  What counts is the same: U3' fetched, and U3, which did not, is asked for its vote.
    """
    d.step("N3 runs as (3,U3'); N1 L(5) by the votes of 1 and 2")
    elect_without_third(d)
    d.fetch(2, 1)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)
    d.end_offsets(3, 3, 3)
    d.step("N1 appends 3..5; (3,U3') fetches up to 6")
    d.append(1, end_offset=6)
    for _ in range(4):
        d.fetch(3, 1)
    d.end_offsets(6, 3, 6)
    d.high_watermark(1, high_watermark)
    d.step("the disk (3,U3) comes back; crash(1)")
    d.crash(1)
    d.crash(3)
    d.replace_disk(3, "U3")
    d.restart(3)
    d.step("{2,(3,U3)} elect a leader")
    d.fetch_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(6)", "U(6,voted=2)")
    d.end_offsets(6, 4, 0)


def elect_without_third(d: Director) -> None:
    """N1 L(5); (3,U3') is not the voter that its id names, and learns of the leader by fetching."""
    d.election_timeout(1)
    while d.state(1).epoch < 5:
        win_pre_vote(d, 1)
        if d.state(1).epoch < 5:
            d.election_timeout(1)
    win(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.lose(1)
    d.roles("L(5)", "F(5,1)", "U(0)")


@VARIANTS.variant("wrong-disk", cluster(3, fetch_max_records=1, disks={3: "U3'"}))
def replica_key(d: Director) -> None:
    """(3,U3') is tracked as an observer and commits nothing; N2 L(6) loses nothing committed."""
    # (3,U3') counts as an observer: nothing that it fetched is committed by that.
    _wrong_disk(d, high_watermark=-1)


@VARIANTS.variant(
    "wrong-disk-without-replica-key",
    cluster(3, fetch_max_records=1, disks={3: "U3'"}),
    *_LOSS_BY_OTHERS,
    mutants=(REPLICA_KEY,),
)
def without_replica_key(d: Director) -> None:
    """Tracked by id, (3,U3') commits 6 records that N2 L(6) does not have."""
    # (3,U3') counts as voter 3, and what N1 and it have is published as committed.
    _wrong_disk(d, high_watermark=6)


SCENARIOS = (
    Scenario(
        8,
        "disk-loss",
        "Disk loss",
        "KIP-996, KIP-853",
        (VOTER_KEY, REPLICA_KEY, "observer.never-nominates", "prevote.leader.rejects"),
        tuple(VARIANTS),
    ),
)
