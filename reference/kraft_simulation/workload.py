"""Workloads: actions of clients and operators, faults, and the table of presets."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Workload:
    """Actions of clients and operators.  Intervals are mean virtual times in milliseconds; 0 means never."""

    append_interval_ms: int = 150
    """A client appends a record at a leader."""
    shutdown_interval_ms: int = 0
    """A leader shuts down gracefully; half of them end soon after, the others stay Resigned."""
    append_voters_interval_ms: int = 0
    """A leader appends the current voter set again, unchanged; `change_interval_ms` changes it."""
    change_interval_ms: int = 0
    """An operator requests a voter change: an addition, a removal, a replacement, or an invalid one."""
    patience_ms_max: int = 9000
    """Maximum timeout of an addition."""
    early_answers: bool = True
    """True if some additions request a response before the commit (KIP-1186)."""
    reassign_interval_ms: int = 0
    """An operator requests a reassignment of the quorum, an end to it, or an invalid target."""
    upgrade_interval_ms: int = 0
    """An operator requests kraft.version 1, or an impossible level."""
    software_interval_ms: int = 0
    """An operator replaces the software of the next replica without Pre-Vote; all start without it."""
    snapshot_interval_ms: int = 0
    """A replica takes a snapshot of a part of its committed records, and deletes them from its log."""

    @property
    def changes_voters(self) -> bool:
        """True if operators request voter changes."""
        return bool(self.change_interval_ms or self.reassign_interval_ms)


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults.  Intervals are mean virtual times in milliseconds, chances are from 0 to 1; 0 means never."""

    delay_ms_max: int = 15
    """Maximum delay of a message that is not slow; the minimum is 1.  Different delays reorder messages."""
    slow_chance: float = 0.0
    """Chance that a message is slow."""
    slow_ms_max: int = 2500
    """Maximum delay of a slow message, above the request timeout, so that responses are late."""
    drop_chance: float = 0.0
    """Chance that a message is lost."""
    duplicate_chance: float = 0.0
    """Chance that a message is duplicated."""
    cut_interval_ms: int = 0
    """Links are cut: one direction, both, all of one replica, or between two halves."""
    cut_duration_ms_max: int = 6000
    """Maximum time until a cut link heals."""
    crash_interval_ms: int = 0
    """A replica crashes: during its next step, or between steps, now or as soon as it has unsynced records."""
    crash_in_change_chance: float = 0.0
    """Chance that the leader crashes during the first write of a voter change or reassignment step."""
    downtime_ms_max: int = 5000
    """Maximum time until a crashed replica restarts."""
    replace_disk_chance: float = 0.0
    """Chance that a crashed replica restarts with an empty disk, if every deciding voter set keeps a majority of its
    disks; see `survival`."""
    new_endpoint_chance: float = 0.0
    """Chance that a replica restarts with another endpoint."""
    early_timer_interval_ms: int = 0
    """A running timer fires early, as after a pause of the process or with a fast clock."""
    stays_cut_chance: float = 0.0
    """Chance that some links outside of a connected majority of the voters never heal.

    Not for software without Pre-Vote: a replica without contact to the leader raises its epoch at every timeout, and
    each time deposes a leader that it can still reach."""
    stays_down_chance: float = 0.0
    """Chance that some replicas outside of a connected majority of the voters never restart."""

    def healed(self) -> "Faults":
        """Return the same network without faults."""
        return Faults(delay_ms_max=self.delay_ms_max)


@dataclass(frozen=True, slots=True)
class Preset:
    """A named workload: the cluster, the actions of clients and operators, and the faults."""

    name: str
    summary: str
    workload: Workload
    faults: Faults
    observers: int = 0
    """Number of observers."""
    observers_without_list: bool = False
    """True if observers are formatted without the list of voters, as controllers that join later are."""
    one_bootstrap_server: bool = False
    """True if voter 1 is the only bootstrap server, which replicas ask for the leader."""
    auto_join: bool = False
    """True if all replicas have auto join."""
    static_voters: bool = False
    """True for kraft.version 0: voters without directory ids, from the configuration."""
    old_software: bool = False
    """True if some replicas lack Pre-Vote; the seed decides which ones, and how.

    Static voters that cannot decode a Pre-Vote also lack directory ids and kraft.version 1."""
    voter_change_timeout_ms: int = 30_000
    """Timeout of a change whose request has none."""
    fetch_max_records: int = 8
    """Maximum number of records in a Fetch response; with few, followers catch up in many steps."""


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
        "replicas outside the voter set follow along",
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
"""Presets of `kraft-spec simulate --workload`, by name."""
