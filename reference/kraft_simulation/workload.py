"""What clients, operators and misfortune do to a cluster, as values, and the table of the named mixes."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Workload:
    """What clients and operators do.  All intervals are mean virtual times in milliseconds; 0 means never."""

    append_interval_ms: int = 150
    """A client appends a record at a replica that leads."""
    shutdown_interval_ms: int = 0
    """A leader is shut down gracefully; half of them end soon after, the others go on as Resigned."""
    append_voters_interval_ms: int = 0
    """A leader appends the voters set in force once more.

    That set is as it was; what changes it is `change_interval_ms`."""
    change_interval_ms: int = 0
    """An operator asks for a voter change: an addition, a removal, a replacement, or something wrong."""
    patience_ms_max: int = 9000
    """How long an operator waits for an addition at most."""
    early_answers: bool = True
    """Some additions are to be answered before they are committed (KIP-1186)."""
    reassign_interval_ms: int = 0
    """An operator names other voters to end with, or stops at those that there are, or asks for something wrong."""
    upgrade_interval_ms: int = 0
    """An operator asks for kraft.version 1, or for something that cannot be."""
    software_interval_ms: int = 0
    """An operator stops the next replica without Pre-Vote and replaces its software; all begin without Pre-Vote."""
    snapshot_interval_ms: int = 0
    """Some replica takes a snapshot of a part of what is committed, and its log starts later."""

    @property
    def changes_voters(self) -> bool:
        """Do operators ask for other voters?"""
        return bool(self.change_interval_ms or self.reassign_interval_ms)


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong.  Intervals are mean virtual times in milliseconds, chances are from 0 to 1; 0 means never."""

    delay_ms_max: int = 15
    """Longest time on the way of a message that is not slow; the shortest is 1.  Different delays reorder messages."""
    slow_chance: float = 0.0
    """How many messages are slow."""
    slow_ms_max: int = 2500
    """Longest time on the way of a slow message; above the request timeout, so that answers come too late."""
    drop_chance: float = 0.0
    """How many messages are lost."""
    duplicate_chance: float = 0.0
    """How many messages arrive once more, later."""
    cut_interval_ms: int = 0
    """Links are cut: one direction, both, all of one replica, or between two halves."""
    cut_duration_ms_max: int = 6000
    """After this long at the latest a cut link is mended."""
    crash_interval_ms: int = 0
    """A replica crashes: in the middle of its next step, or at rest, now or as soon as it has unsynced records."""
    crash_in_change_chance: float = 0.0
    """How many voter changes, and steps of a reassignment, meet a leader that dies in the middle of the first step that
    writes something."""
    downtime_ms_max: int = 5000
    """After this long at the latest a crashed replica starts again."""
    replace_disk_chance: float = 0.0
    """How many crashed replicas come back with an empty disk, as long as every voters set that can decide something
    keeps a majority with their disks; see `survival`."""
    new_endpoint_chance: float = 0.0
    """How many replicas listen elsewhere when they start again."""
    early_timer_interval_ms: int = 0
    """A running timer fires before its time, as after a pause of the process or with a clock that runs fast."""
    stays_cut_chance: float = 0.0
    """In how many runs some links outside of a connected majority of the voters are never mended.

    Not for software without Pre-Vote: a replica that hears from no leader and asks nobody first raises its epoch
    at every timeout, and each time deposes whoever it can still reach."""
    stays_down_chance: float = 0.0
    """In how many runs some replicas outside of a connected majority of the voters are never started again."""

    def healed(self) -> "Faults":
        """The same network when nothing goes wrong any more."""
        return Faults(delay_ms_max=self.delay_ms_max)


@dataclass(frozen=True, slots=True)
class Preset:
    """A named mix: the shape of a cluster, what it is asked to do, and what goes wrong."""

    name: str
    summary: str
    workload: Workload
    faults: Faults
    observers: int = 0
    """Replicas beside the voters."""
    observers_without_list: bool = False
    """The observers are formatted without the list of voters, as a controller is that joins later."""
    one_bootstrap_server: bool = False
    """The bootstrap servers are voter 1 alone: who looks for another leader has to take its word."""
    auto_join: bool = False
    """All replicas join the voters by themselves."""
    static_voters: bool = False
    """kraft.version 0: voters without directory ids, from the operators' configuration."""
    old_software: bool = False
    """Some replicas do not know Pre-Vote; which, and in which of the two ways, depends on the seed.

    Static voters that cannot read a Pre-Vote know nothing of directory ids and of kraft.version 1 either."""
    voter_change_timeout_ms: int = 30_000
    """How long a leader works on a change whose request names no time."""
    fetch_max_records: int = 8
    """Most records in one Fetch response: few make followers catch up in many steps."""


_LOSSY = Faults(delay_ms_max=60, slow_chance=0.04, drop_chance=0.04, duplicate_chance=0.05)
_CRASHES = Faults(crash_interval_ms=2500, replace_disk_chance=0.1, slow_chance=0.01)
_ELECTIONS = Faults(early_timer_interval_ms=600, slow_chance=0.02)
_BUSY = Workload(append_interval_ms=120, shutdown_interval_ms=12_000)
_CHANGES = Faults(
    slow_chance=0.02,
    drop_chance=0.02,
    duplicate_chance=0.02,
    cut_interval_ms=6000,
    crash_interval_ms=3000,
    crash_in_change_chance=0.1,
)
_CHAOS = replace(
    _LOSSY,
    cut_interval_ms=4000,
    crash_interval_ms=4000,
    crash_in_change_chance=0.1,
    replace_disk_chance=0.1,
    early_timer_interval_ms=2000,
)

_HASTE = Faults(
    delay_ms_max=40,
    slow_chance=0.05,
    drop_chance=0.08,
    crash_interval_ms=2500,
    downtime_ms_max=2000,
    early_timer_interval_ms=800,
    cut_interval_ms=1200,
    cut_duration_ms_max=2500,
)
_STORM = Faults(
    delay_ms_max=200,
    slow_chance=0.2,
    slow_ms_max=5000,
    drop_chance=0.05,
    duplicate_chance=0.15,
    crash_interval_ms=1500,
    downtime_ms_max=1000,
    replace_disk_chance=0.1,
    early_timer_interval_ms=300,
    cut_interval_ms=3000,
    cut_duration_ms_max=2000,
)

_PRESETS = (
    Preset("calm", "nothing goes wrong", Workload(), Faults()),
    Preset(
        "elections",
        "timers fire early and leaders hand over, so that elections compete",
        replace(_BUSY, shutdown_interval_ms=6000),
        _ELECTIONS,
    ),
    Preset("lossy", "messages are late, lost, doubled and overtake each other", Workload(), _LOSSY),
    Preset(
        "partitions",
        "links are cut, often in one direction only",
        _BUSY,
        Faults(cut_interval_ms=2500, slow_chance=0.01, stays_cut_chance=0.5),
    ),
    Preset(
        "islands",
        "cuts and crashes of which some last, so that a connected majority has to go on without the others",
        _BUSY,
        Faults(cut_interval_ms=4000, crash_interval_ms=8000, stays_cut_chance=0.9, stays_down_chance=0.4),
        observers=1,
    ),
    Preset("crashes", "replicas crash in the middle of steps, lose unflushed records and disks", _BUSY, _CRASHES),
    Preset(
        "mixed-versions",
        "some replicas do not know Pre-Vote",
        _BUSY,
        replace(_ELECTIONS, cut_interval_ms=8000, crash_interval_ms=10_000, stays_down_chance=0.3),
        old_software=True,
    ),
    Preset(
        "rolling-upgrade",
        "replicas without Pre-Vote get software with it, one after the other",
        replace(_BUSY, software_interval_ms=1500),
        replace(_ELECTIONS, drop_chance=0.02, cut_interval_ms=8000, crash_interval_ms=10_000),
    ),
    Preset(
        "rolling-upgrade-static",
        "the same at kraft.version 0",
        replace(_BUSY, software_interval_ms=1500),
        replace(_ELECTIONS, drop_chance=0.02, cut_interval_ms=8000, crash_interval_ms=10_000),
        static_voters=True,
    ),
    Preset(
        "observers",
        "replicas outside the voters set follow along",
        replace(_BUSY, append_voters_interval_ms=5000),
        replace(_LOSSY, cut_interval_ms=6000, crash_interval_ms=8000, replace_disk_chance=0.2),
        observers=2,
    ),
    Preset(
        "one-server",
        "voter 1, which may not lead, is the only bootstrap server of replicas that crash and lose their links",
        _BUSY,
        Faults(cut_interval_ms=4000, crash_interval_ms=3000, slow_chance=0.01),
        observers=2,
        observers_without_list=True,
        one_bootstrap_server=True,
    ),
    Preset(
        "static-voters",
        "kraft.version 0: voters without directory ids",
        _BUSY,
        replace(_CRASHES, cut_interval_ms=6000, early_timer_interval_ms=4000),
        observers=1,
        static_voters=True,
    ),
    Preset(
        "voter-changes",
        "operators add, remove and replace voters, rightly and wrongly, while replicas crash and lose disks",
        replace(_BUSY, shutdown_interval_ms=15_000, change_interval_ms=1200),
        replace(_CHANGES, replace_disk_chance=0.25, new_endpoint_chance=0.2),
        observers=2,
        observers_without_list=True,
    ),
    Preset(
        "snapshots",
        "every replica takes snapshots, so that who comes late has to begin with one",
        replace(_BUSY, append_interval_ms=60, change_interval_ms=4000, snapshot_interval_ms=400),
        replace(_CHANGES, replace_disk_chance=0.3, cut_interval_ms=3000),
        observers=1,
        observers_without_list=True,
        fetch_max_records=4,
    ),
    Preset(
        "hasty-snapshots",
        "voter changes and snapshots under cuts: some load a snapshot with an uncommitted set at its end or beyond",
        replace(_BUSY, append_interval_ms=60, change_interval_ms=300, snapshot_interval_ms=300),
        replace(_CHANGES, cut_interval_ms=1200, crash_interval_ms=6000),
        observers=1,
        observers_without_list=True,
        fetch_max_records=4,
    ),
    Preset(
        "upgrade",
        "static voters become dynamic ones while everything goes wrong, and then they change",
        replace(_BUSY, change_interval_ms=3000, upgrade_interval_ms=2500, snapshot_interval_ms=3000),
        replace(_CHANGES, early_timer_interval_ms=4000, new_endpoint_chance=0.2, replace_disk_chance=0.1),
        observers=1,
        static_voters=True,
        fetch_max_records=3,
    ),
    Preset(
        "auto-join",
        "controllers join by themselves, also those whose disk was lost, while operators remove some of them",
        replace(_BUSY, change_interval_ms=6000, snapshot_interval_ms=3000),
        replace(_CHANGES, replace_disk_chance=0.35, new_endpoint_chance=0.2),
        observers=2,
        observers_without_list=True,
        auto_join=True,
    ),
    Preset(
        "reassignments",
        "leaders work towards targets that operators name, replace and cancel, while replicas crash and links are cut",
        replace(_BUSY, reassign_interval_ms=2500, change_interval_ms=5000, snapshot_interval_ms=2500),
        replace(_CHANGES, new_endpoint_chance=0.1),
        observers=2,
        observers_without_list=True,
    ),
    Preset(
        "hasty-changes",
        "voter changes as soon as there is a leader, and leaders that never last, which finds what comes too early",
        Workload(append_interval_ms=100, shutdown_interval_ms=2500, change_interval_ms=120),
        _HASTE,
        observers=2,
        observers_without_list=True,
    ),
    Preset(
        "impatient-changes",
        "voter changes whose time is over before they are done, and what is asked for after them",
        replace(_BUSY, change_interval_ms=250, upgrade_interval_ms=4000, patience_ms_max=250),
        replace(_CHANGES, delay_ms_max=60, slow_chance=0.1),
        observers=2,
        observers_without_list=True,
        voter_change_timeout_ms=80,
    ),
    Preset(
        "old-voters",
        "kraft.version 0 with voters that know nothing of Pre-Vote and of directory ids",
        replace(_BUSY, upgrade_interval_ms=4000),
        replace(_ELECTIONS, cut_interval_ms=8000, crash_interval_ms=8000),
        observers=1,
        static_voters=True,
        old_software=True,
    ),
    Preset(
        "chaos",
        "everything at once",
        replace(_BUSY, append_voters_interval_ms=20_000, change_interval_ms=4000, snapshot_interval_ms=3000),
        replace(_CHAOS, new_endpoint_chance=0.1),
        observers=1,
        old_software=True,
    ),
    Preset(
        "storm",
        "no two messages in order and no leader for long, which finds what needs a strange coincidence",
        Workload(append_interval_ms=400, shutdown_interval_ms=5000, change_interval_ms=2000, snapshot_interval_ms=4000),
        _STORM,
        observers=1,
        fetch_max_records=2,
    ),
    Preset(
        "hasty-reassignments",
        "targets named as soon as there is a leader, and leaders that never last, some without Pre-Vote",
        Workload(append_interval_ms=150, shutdown_interval_ms=4000, reassign_interval_ms=400),
        replace(_HASTE, early_timer_interval_ms=400, crash_in_change_chance=0.2),
        observers=1,
        observers_without_list=True,
        old_software=True,
    ),
)

WORKLOADS: dict[str, Preset] = {preset.name: preset for preset in _PRESETS}
"""The named mixes of `kraft-spec simulate --workload`."""
