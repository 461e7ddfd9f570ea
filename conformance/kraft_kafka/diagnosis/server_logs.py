"""Events in a controller's log, in any layout that prints Kafka's messages in one line each."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kraft_kafka.diagnosis.evidence import Described, Event, Fault, Place, Transition, Truncated, VotersRead

_NODE = re.compile(r"\[(?:RaftManager|KafkaRaftServer|QuorumController|ControllerServer) (?:node)?[iI]d=(\d+)")
_THREAD = re.compile(r"\[?kafka-(\d+)-raft-io-thread")
_VOTERS = re.compile(r"Latest set of voters is .* at offset (-?\d+)")
_KEY = re.compile(r"voterKey=ReplicaKey\(id=(\d+)")
_TRUNCATED = re.compile(r"Truncated to offset|(Fully truncated the log)")
_TRANSITION = re.compile(r"Completed transition to (\w+?)(?:State)?\((.*?)\) from (null|\w+)")
_EPOCH = re.compile(r"\bepoch=(\d+)")
_LEADER = re.compile(r"leader(?:Id)?=(?:OptionalInt\[)?(\d+)")
_LOCAL = re.compile(r"(?:localId|voterKey=ReplicaKey\(id)=(\d+)")
_VOTED = re.compile(r"voted(?:Key|Id)=(?:Optional(?:Int)?\[)?(?:ReplicaKey\(id=)?(\d+)")
_FATAL = "Encountered fatal fault"
_EXCEPTION = re.compile(r"^\s*(?:[\w.]+\.)?\w*(?:Exception|Error)\b")
_STATUS = re.compile(r"^(LeaderId|LeaderEpoch|CurrentVoters):\s*(.*)$")
_SHOWN_MAX = 160


def node_of(lines: Iterable[str]) -> int | None:
    """Return the id of the controller that wrote a log; None if no line has it."""
    return next((int(match[1]) for line in lines if (match := _NODE.search(line) or _THREAD.search(line))), None)


def events_of(path: Path, lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a log, in the order of its lines."""
    fatal: Place | None = None
    for number, line in enumerate(lines, 1):
        if fatal is not None:
            if _EXCEPTION.search(line):
                yield Fault(line.strip(), Place(path, number, _shorten(line)))
            fatal = None
        place = Place(path, number, _shorten(line))
        if _FATAL in line:
            fatal = place
        elif match := _VOTERS.search(line):
            yield VotersRead(int(match[1]), frozenset(map(int, _KEY.findall(line))), place)
        elif match := _TRUNCATED.search(line):
            yield Truncated(match[1] is not None, place)
        elif (match := _TRANSITION.search(line)) and (epoch := _EPOCH.search(match[2])):
            yield _parse_transition(match, int(epoch[1]), place)


def _shorten(line: str) -> str:
    """Return a line without its time and class, shortened."""
    message = line[max(0, line.find("[RaftManager")) :].strip()
    return message if len(message) <= _SHOWN_MAX else f"{message[:_SHOWN_MAX]}..."


def _parse_transition(match: re.Match[str], epoch: int, place: Place) -> Transition:
    role, fields, before = match.groups()
    leader, voted = (_LOCAL if role == "Leader" else _LEADER).search(fields), _VOTED.search(fields)
    if role == "Candidate":
        voted = _LOCAL.search(fields)
    return Transition(
        role, epoch, int(leader[1]) if leader else None, int(voted[1]) if voted else None, before == "null", place
    )


def described(path: Path, lines: Iterable[str]) -> Described | None:
    """Parse the quorum in the output of `kafka-metadata-quorum describe --status`."""
    fields = {match[1]: match[2] for line in lines if (match := _STATUS.match(line.strip()))}
    if fields.keys() != {"LeaderId", "LeaderEpoch", "CurrentVoters"}:
        return None
    voters = re.findall(r'"id":\s*(\d+)', fields["CurrentVoters"]) or re.findall(r"\d+", fields["CurrentVoters"])
    text = f"leader {fields['LeaderId']}, epoch {fields['LeaderEpoch']}, voters {fields['CurrentVoters']}"
    return Described(
        int(fields["LeaderId"]), int(fields["LeaderEpoch"]), frozenset(map(int, voters)), Place(path, None, text)
    )
