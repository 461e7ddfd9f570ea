"""Which kinds of fault an occurrence shows, by the names of `Faults`, from what was seen before it."""

from collections.abc import Iterator

from kraft_reference.cluster.occurrence import CutLink, DropMessage, DuplicateMessage, Occurrence
from kraft_reference.cluster.workload import Faults
from kraft_reference.cluster.world import World
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import (
    AddVoter,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    Crash,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Receive,
    RemoveVoter,
    ReplaceDisk,
    Restart,
    UpdateFeatures,
)
from kraft_reference.roles import Role

_TIMERS: dict[type[Event], Timer] = {
    ElectionTimeout: Timer.ELECTION,
    FetchTimeout: Timer.FETCH,
    CheckQuorumTimeout: Timer.CHECK_QUORUM,
    BeginQuorumEpochTimeout: Timer.BEGIN_QUORUM_EPOCH,
}
_USUAL_DELAY_MS_MAX = max(Faults().delay_ms_max, 200)
"""No workload delays a message that is not slow longer than this."""


class Misfortune:
    """Follows one run."""

    def __init__(self, configuration: Configuration, world: World | None) -> None:
        """`world` is the one of a simulated run; in a scenario time stands still and messages go lost on purpose."""
        self._world = world
        self._sent_ms: dict[str, int] = {}
        self._due_ms: dict[tuple[int, Timer], int] = {}
        self._ids = tuple(configuration.replicas)
        self._changing: set[int] = set()
        """The leaders that work on a voter change."""

    def seen(self, occurrence: Occurrence) -> Iterator[str]:
        """The kinds of fault that this occurrence is, or shows."""
        event = occurrence.event
        self._sent_ms[str(occurrence.sequence)] = occurrence.time_ms
        match event:
            case DropMessage(identifier):
                # The driver loses what cannot arrive as well: that is the cut or the crash, not the network's chance.
                if self._world is None or self._might_arrive(identifier):
                    yield "drop_chance"
            case DuplicateMessage():
                yield "duplicate_chance"
            case CutLink():
                yield "cut_interval_ms"
            case Crash():
                yield "crash_interval_ms"
            case ReplaceDisk():
                yield "replace_disk_chance"
            case Receive():
                sent = (occurrence.message_id or "").partition(".")[0]
                if occurrence.time_ms - self._sent_ms.get(sent, occurrence.time_ms) > _USUAL_DELAY_MS_MAX:
                    yield "slow_chance"
            case _:
                pass
        if isinstance(event, Restart) and event.endpoint is not None:
            yield "new_endpoint_chance"
        if occurrence.crash is not None:
            yield "crash_interval_ms"
            if occurrence.replica_id in self._changing or isinstance(event, AddVoter | RemoveVoter | UpdateFeatures):
                yield "crash_in_change_chance"
        if occurrence.state is not None:
            changes = {occurrence.state.key.id} if occurrence.state.pending_change is not None else set[int]()
            self._changing = self._changing - {occurrence.state.key.id} | changes
        if self._is_early(occurrence):
            yield "early_timer_interval_ms"
        self._start_timers(occurrence)

    def _might_arrive(self, identifier: str) -> bool:
        assert self._world is not None, "asked for simulated runs only"
        receiver = int(identifier.split(".")[1])
        runs = self._world.state(receiver).role is not Role.STOPPED
        return runs and not any(destination == receiver for _, destination in self._world.cuts)

    def _is_early(self, occurrence: Occurrence) -> bool:
        timer = _TIMERS.get(type(occurrence.event))  # type: ignore[arg-type]  # the network's events have none
        if timer is None or occurrence.replica_id is None:
            return False
        return occurrence.time_ms < self._due_ms.get((occurrence.replica_id, timer), 0)

    def _start_timers(self, occurrence: Occurrence) -> None:
        for effect in occurrence.effects:
            if isinstance(effect, StartTimer) and occurrence.replica_id is not None:
                self._due_ms[occurrence.replica_id, effect.timer] = occurrence.time_ms + effect.duration_ms

    def seen_at_end(self) -> Iterator[str]:
        """After the last occurrence of a simulated run, when everything else has been mended."""
        assert self._world is not None, "asked for simulated runs only"
        if any(self._world.state(replica_id).role is Role.STOPPED for replica_id in self._ids):
            yield "stays_down_chance"
        if self._world.cuts:
            yield "stays_cut_chance"
