"""Bugs for which another rule than the broken one was named first, as edits of the reference."""

from typing import NamedTuple

from kraft_spec.edits import Edit


class Misnamed(NamedTuple):
    """A bug."""

    name: str
    rule: str
    """That it breaks."""
    edits: tuple[Edit, ...]
    vector: str
    """That fails with it."""
    workload: str
    """Whose simulated run meets it, as `tests.traces.check.test_attribution` simulates; empty if none does."""


MISNAMED = (
    Misnamed(
        "an observer refuses its vote",
        "vote.membership-not-checked",
        (
            Edit(
                "kraft_reference/elections.py",
                "    # Rules: vote.once-per-epoch, vote.repeat-grant.\n",
                "    if not is_voter(state):\n        return False\n"
                "    # Rules: vote.once-per-epoch, vote.repeat-grant.\n",
            ),
        ),
        "scenario.s14-votes-without-membership.right-a.replica-2",
        "reassignments",
    ),
    Misnamed(
        "an error restarts the fetch timer",
        "fetch.timer",
        (
            Edit(
                "kraft_reference/replication.py",
                "        return Outcome(state, refusal=Refusal.ERROR_RESPONSE if failed",
                "        timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),)\n"
                "        return Outcome(state, timers=timers, refusal=Refusal.ERROR_RESPONSE if failed",
            ),
        ),
        "constructed.fetch-of-the-last-epoch",
        "",
    ),
    Misnamed(
        "a response of an older epoch restarts the fetch timer",
        "fetch.timer",
        (
            Edit(
                "kraft_reference/replication.py",
                "        return Outcome(state, refusal=reason)\n",
                "        timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),)\n"
                "        return Outcome(state, timers=timers, refusal=reason)\n",
            ),
        ),
        "constructed.fetch-from-second-leader",
        "",
    ),
    Misnamed(
        "observers are among the preferred candidates",
        "end-quorum.send",
        (
            Edit(
                "kraft_reference/transitions.py",
                "    return tuple(sorted(other_voters(state), key=",
                "    known = {*other_voters(state), *state.fetch_offsets} - {state.key}\n"
                "    return tuple(sorted(known, key=",
            ),
        ),
        "scenario.s20-quorum-reassignment.right.replica-1",
        "",
    ),
    Misnamed(
        "a leader truncates its log for a diverging Fetch",
        "fetch.diverging.truncate",
        (
            Edit(
                "kraft_reference/replication.py",
                "        diverging = end_of_epoch(state.log, request.last_epoch)\n",
                "        diverging = end_of_epoch(state.log, request.last_epoch)\n"
                "        end_offset = max(diverging.offset, credited.high_watermark, 0)\n"
                "        credited = credited._replace(log=truncate(credited.log, end_offset))\n",
            ),
        ),
        "fetch.diverging-counted",
        "elections",
    ),
    Misnamed(
        "a replica votes again when its leader is forgotten",
        "vote.once-per-epoch",
        (
            Edit(
                "kraft_reference/elections.py",
                "    if state.voted_key is not None:\n        return names(",
                "    if state.voted_key is not None and state.leader_id is not None:\n        return names(",
            ),
            Edit(
                "kraft_reference/elections.py",
                "    if state.voted_key is not None:\n        return state\n",
                "    if state.voted_key is not None and state.leader_id is not None:\n        return state\n",
            ),
        ),
        "vote.once-per-epoch",
        "storm",
    ),
    Misnamed(
        "the high watermark is 0 before anything is committed",
        "hw.own-epoch",
        (
            Edit(
                "kraft_reference/replication.py",
                "state.high_watermark if publishes else UNKNOWN_HIGH_WATERMARK",
                "state.high_watermark if publishes else 0",
            ),
        ),
        "fetch.diverging-counted",
        "calm",
    ),
    Misnamed(
        "a leader grants a Pre-Vote of its own epoch",
        "prevote.leader.rejects",
        (
            Edit(
                "kraft_reference/elections.py",
                "    if state.role is Role.LEADER:\n        return False\n    # Rules: prevote",
                "    # Rules: prevote",
            ),
        ),
        "prevote.leader-refuses",
        "",
    ),
)
