"""Adapters of a cluster: one for each replica, started on first use."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.random_runs.driven import AdapterReplica
from kraft_conformance.random_runs.notes import Notes
from kraft_conformance.random_runs.seats import Reference, Seat
from kraft_conformance.runner.session import Adapter
from kraft_reference.configuration import Configuration, PreVoteSupport, ReplicaConfiguration
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_simulation.plan import configuration_of
from kraft_simulation.workload import Preset
from kraft_simulation.world import MakeReplica
from kraft_traces.encode import REFERENCE_KIP_LEVELS
from kraft_traces.lines import KipLevel

_LEVELS: tuple[KipLevel, ...] = ("none", "partial", "full")


class Table:
    """Owner of the adapters.  As a context manager it ends them."""

    def __init__(self, seats: Sequence[Seat], reply_timeout_s: float) -> None:
        """Start an adapter for each seat and send hello.

        Raises:
            AdapterFault: an adapter cannot be started, or its hello is wrong.
        """
        self._seats = tuple(seats)
        self._timeout_s = reply_timeout_s
        self._sessions: dict[tuple[int, Seat], Adapter] = {}
        self._hellos: dict[Seat, HelloReply] = {}
        self._dealt: Mapping[PreVoteSupport | None, Sequence[Seat]] = {None: self._seats}
        self._software: dict[int, PreVoteSupport] = {}
        self._notes: Notes | None = None
        try:
            for replica_id, seat in enumerate(self._seats, start=1):
                if not isinstance(seat, Reference):
                    self._hellos[seat] = self.session(replica_id).hello
        except BaseException:
            self.end(politely=False)
            raise

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.end(politely=kind is None)

    @property
    def hellos(self) -> tuple[HelloReply, ...]:
        """Hellos of the adapters, one for each seat."""
        return tuple([self._hellos[seat] for seat in self._seats if seat in self._hellos])

    @property
    def asking(self) -> tuple[int, str] | None:
        """Replica that had the last request, and the request."""
        return None if self._notes is None else self._notes.asking

    def deal(self, preset: Preset) -> None:
        """Assign seats to replicas for a workload, in turn.

        If the workload replaces software without Pre-Vote, seats with and without Pre-Vote are assigned separately; the
        reference stands in for a kind without an adapter.
        """
        self._dealt = {None: self._seats}
        if preset.workload.software_interval_ms:
            with_it = tuple([seat for seat in self._seats if self._has_pre_vote(seat)])
            without = tuple([seat for seat in self._seats if seat in self._hellos and seat not in with_it])
            self._dealt = {"unsupported": without or (Reference(),), "supported": with_it or (Reference(),)}

    def _has_pre_vote(self, seat: Seat) -> bool:
        return seat not in self._hellos or self._hellos[seat].has_pre_vote

    def seat(self, replica_id: int) -> Seat:
        """Return the current seat of a replica."""
        side = self._dealt.get(None) or self._dealt[self._software.get(replica_id, "unsupported")]
        return side[(replica_id - 1) % len(side)]

    def hello(self, replica_id: int) -> HelloReply | None:
        """Return the hello of a replica's adapter; None for the reference."""
        return self._hellos.get(self.seat(replica_id))

    def session(self, replica_id: int) -> Adapter:
        """Return the adapter of a replica, started if it does not run.

        Raises:
            AdapterFault: it cannot be started, or its hello is wrong.
        """
        seat = self.seat(replica_id)
        session = self._sessions.get((replica_id, seat))
        if session is None:
            assert not isinstance(seat, Reference), "the reference has no session"
            session = self._sessions[replica_id, seat] = seat.opened(self._timeout_s)
        return session

    def end(self, *, politely: bool = True) -> None:
        """End all adapters in parallel, because each may take time; later uses start them again."""
        sessions, self._sessions = self._sessions, {}
        if sessions:
            with ThreadPoolExecutor(len(sessions)) as threads:
                for session in sessions.values():
                    threads.submit(session.end, politely=politely)

    # -----------------------------------------------------------------------------------------------------
    # Clusters.
    # -----------------------------------------------------------------------------------------------------

    def configuration(
        self, preset: Preset, seed: int, voters: int, profile: str, *, old_software_everywhere: bool
    ) -> Configuration:
        """Return the cluster of a workload for these adapters.

        Only the reference acts as software without Pre-Vote, unless `old_software_everywhere`; an adapter without
        KIP-996 is such software itself.

        Raises:
            ValueError: the cluster or profile does not exist.
        """
        configuration = configuration_of(preset, seed, voters, profile)
        if preset.workload.software_interval_ms:
            return configuration
        replicas = {
            replica_id: self._as_played(replica_id, replica, old_software_everywhere)
            for replica_id, replica in configuration.replicas.items()
        }
        return replace(configuration, replicas=replicas)

    def _as_played(self, replica_id: int, replica: ReplicaConfiguration, stays_old: bool) -> ReplicaConfiguration:
        hello = self.hello(replica_id)
        if hello is None:
            return replica
        if not hello.has_pre_vote:
            # Endpoints came with KIP-853, Pre-Vote after it.
            speaks = hello.kip_levels.get("KIP-853", "none") != "none"
            return replace(replica, pre_vote="unsupported", sends_leader_endpoint=speaks)
        return replica if stays_old else replace(replica, pre_vote="supported", sends_leader_endpoint=True)

    def kip_levels(self) -> dict[str, KipLevel]:
        """Return the lowest level of each KIP in the cluster."""
        everybody = [hello.kip_levels for hello in self.hellos]
        if any(isinstance(seat, Reference) for seat in self._seats):
            everybody.append(dict(REFERENCE_KIP_LEVELS))
        names = sorted({name for levels in everybody for name in levels})
        return {name: min((levels.get(name, "none") for levels in everybody), key=_LEVELS.index) for name in names}

    def maker(
        self,
        notes: Notes,
        *,
        stops: bool,
        dies_in_steps: bool,
        only: int | None = None,
        beside: MakeReplica = Replica,
    ) -> MakeReplica:
        """Return the function that makes the replicas of a run.

        Args:
            notes: notes of the run.
            stops: True if the run ends at the first difference.
            dies_in_steps: True if adapters may crash during steps.
            only: replica that uses its adapter, while the others are the reference; None if all use theirs.
            beside: makes the reference that an adapter is compared with.
        """
        self._notes = notes

        def make(state: ReplicaState, configuration: Configuration) -> Replica:
            replica_id = state.key.id
            self._software[replica_id] = configuration.replicas[replica_id].pre_vote
            if isinstance(self.seat(replica_id), Reference) or only not in (None, replica_id):
                return Replica(state, configuration)
            notes.asking = (replica_id, "hello")
            return AdapterReplica(
                state,
                configuration,
                self.session(replica_id),
                notes,
                stops_at_difference=stops,
                dies_in_steps=dies_in_steps,
                beside=beside,
            )

        return make
