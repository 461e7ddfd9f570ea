"""`kraft-spec wire`: Kafka's bytes of the quorum's messages, to and from JSON."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, say, show_table, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.schema import Kind, Message, message_of, messages, record_of

app = typer.Typer(help="Kafka's bytes of the quorum's messages and records, to and from JSON.", no_args_is_help=True)

Api = Annotated[str | None, typer.Option("--api", help="Vote, Fetch, ...: `wire list` names them.")]
VersionNumber = Annotated[int | None, typer.Option("--version", help="Of the message; default: the highest.")]
KindName = Annotated[str, typer.Option("--kind", help="request or response.")]
RecordName = Annotated[str | None, typer.Option("--record", help="VotersRecord, ..., QuorumStateData: no message.")]
JsonFile = Annotated[str, typer.Option("--json-file", help="The JSON; - for standard input.")]
Binary = Annotated[bool, typer.Option("--binary", help="Bytes in place of hex.")]
Trace = Annotated[bool, typer.Option("--trace", help="The JSON is a message of a kraft-trace/1.")]
CorrelationId = Annotated[int, typer.Option("--correlation-id", help="For JSON without a header.")]
ClientId = Annotated[str | None, typer.Option("--client-id", help="For a request without a header; default: null.")]
Lenient = Annotated[bool, typer.Option("--lenient", help="Take what Kafka reads but never writes, and say so.")]
Frame = Annotated[
    str,
    typer.Argument(
        metavar="HEX|FILE|-",
        help="The frame in hex, a file of a controller's metadata folder, or - for standard input.",
    ),
]


@app.command("list")
def list_messages(as_json: Json = False) -> int:
    """List the messages and records, and their versions: all that there are, and those that a rule names."""
    if as_json:
        print_json([_document(message) for message in messages().values()])
        return ExitCode.CONFORMANT
    show_table(
        "Messages and records",
        ("name", "key or type", "kind", "versions", "flexible", "named by rules"),
        [
            (it.name, it.key if it.key >= 0 else "", it.kind, it.versions, it.flexible, it.needed)
            for it in messages().values()
        ],
    )
    return ExitCode.CONFORMANT


def _document(it: Message) -> dict[str, Any]:
    plain = {"name": it.name, "api": it.api or None, "key": it.key if it.key >= 0 else None, "kind": it.kind.value}
    ranges = {name: str(getattr(it, name)) for name in ("versions", "flexible", "needed")}
    return plain | ranges | {"rules": list(it.rules), "source": it.source}


@app.command()
def encode(
    api: Api = None,
    version: VersionNumber = None,
    kind: KindName = "request",
    record: RecordName = None,
    json_file: JsonFile = "-",
    is_trace: Trace = False,
    binary: Binary = False,
    correlation_id: CorrelationId = 0,
    client_id: ClientId = None,
) -> int:
    """JSON to bytes: a frame with length and header, a batch with one control record, or the file quorum-state.

    The JSON is the body, or header and body, or what `wire decode` prints; of a record its value, or a batch.
    """
    if (api is not None) + (record is not None) + is_trace > 1:
        raise usage_error("--api, --record and --trace name the same thing: only one of them")
    record_message = None if record is None else _find_message(record_of, record)
    with _wire_errors("standard input" if json_file == "-" else json_file):
        from kraft_kafka.wire.documents import read_json

        document = read_json(_read_text(json_file))
        if record_message is not None:
            return _encode_record(record_message, version, document, binary)
        if is_trace:
            message, chosen, document = _read_trace(document, version)
        else:
            message, chosen, document = _read_json(api, kind, version, document)
        from kraft_kafka.wire.frames import encode_frame

        header = {"correlationId": correlation_id}
        if message.kind is Kind.REQUEST:
            header["clientId"] = client_id  # type: ignore[assignment]
        if not (isinstance(document, dict) and document.keys() == {"header", "body"}):
            document = {"header": header, "body": document}
        raw, dropped = encode_frame(message, chosen, document)
    for path in dropped:
        say(f"dropped, since version {chosen} of {message.name} lacks it: {path}", console=stderr)
    return _write(raw, binary)


def _read_trace(document: Any, version: int | None) -> tuple[Message, int, Any]:
    from kraft_kafka.wire.trace_links import LINKS, kafka_name, without_kafka_field
    from kraft_kafka.wire.translation import to_kafka

    traced = document if isinstance(document, dict) else {}
    name = str(traced.get("type"))
    highest = messages()[kafka_name(name)].versions.high if name in LINKS else 0
    chosen = highest if version is None else version
    message, frame = to_kafka(traced, chosen)
    for field, reason in without_kafka_field(name).items():
        if field in traced and field not in ("id", "source", "destination"):
            say(f"not on Kafka's wire: {field}: {reason}", console=stderr)
    return message, chosen, frame


def _read_json(api: str | None, kind: str, version: int | None, document: Any) -> tuple[Message, int, Any]:
    """Return the message of the options, or of a document as `wire decode` prints it."""
    names = {"api", "kind", "version"}
    if isinstance(document, dict) and names <= document.keys():
        if api is not None:
            raise usage_error("the JSON says itself which message it is: leave --api out")
        api, kind = str(document["api"]), document["kind"]
        version = document["version"] if version is None else version
        document = {name: value for name, value in document.items() if name not in names}
    if api is None:
        raise usage_error("which message? --api and --kind name it, --record a record, --trace a traced message")
    if kind not in (Kind.REQUEST, Kind.RESPONSE):
        raise usage_error(f"--kind {kind}: expected request or response")
    message = _find_message(lambda name: message_of(name, Kind(kind)), api)
    return message, _check_version(message, version), document


def _encode_record(message: Message, version: int | None, document: Any, binary: bool) -> int:
    if message.kind is Kind.TEXT:
        from kraft_kafka.wire.quorum_state import DATA_VERSION, encode_quorum_state

        stated = document.get(DATA_VERSION) if isinstance(document, dict) else None
        chosen = stated if version is None and isinstance(stated, int) else version
        text, dropped = encode_quorum_state(_check_version(message, chosen), document)
        for path in dropped:
            say(f"dropped, since this version lacks it: {path}", console=stderr)
        print(text)
        return ExitCode.CONFORMANT
    from kraft_kafka.wire.batches import batch_of, decode_batch, encode_batch

    if isinstance(document, dict) and "records" not in document:
        own = {} if version is None else {"version": _check_version(message, version)}
        document = batch_of(message, {"version": message.versions.high} | document | own)
    raw = encode_batch(document)
    _check_types(decode_batch(raw)[0], message)
    return _write(raw, binary)


@app.command()
def decode(
    frame: Frame,
    api: Api = None,
    version: VersionNumber = None,
    record: RecordName = None,
    lenient: Lenient = False,
    binary: Binary = False,
) -> int:
    """Bytes to JSON: a request by what its header says, a response by --api and --version, a batch by --record.

    With --record QuorumStateData the argument is the text of the file.
    Of a log segment and a checkpoint all batches are printed; the values of data records stay in hex.
    """
    if _is_file(frame):
        return _decode_file(Path(frame), lenient)
    if binary and frame != "-":
        raise usage_error("--binary reads standard input: -")
    if (api is None) != (version is None) and record is None:
        raise usage_error("a response has no header: give --api and --version (a request names both)")
    source = "standard input" if frame == "-" else "the frame"
    with _wire_errors(source):
        if record is not None:
            return _decode_record(_find_message(record_of, record), frame, binary, lenient)
        from kraft_kafka.wire.frames import decode_request, decode_response

        raw = _read_bytes(frame, binary)
        if api is None or version is None:
            parsed = decode_request(raw, lenient)
        else:
            message = _find_message(lambda name: message_of(name, Kind.RESPONSE), api)
            parsed = decode_response(raw, message, _check_version(message, version), lenient)
    _show({"api": parsed.message.api, "kind": parsed.message.kind.value, "version": parsed.version} | parsed.document)
    _show_notes(parsed.notes)
    return ExitCode.CONFORMANT


def _is_file(frame: str) -> bool:
    try:
        return Path(frame).is_file()
    except OSError:  # longer than a path may be
        return False


def _decode_file(path: Path, lenient: bool) -> int:
    from kraft_kafka.wire.batches import decode_batch
    from kraft_kafka.wire.log_records import Batch, batches_of, values_of
    from kraft_kafka.wire.quorum_state import decode_quorum_state

    def document(batch: Batch) -> Any:
        if batch.is_control:
            return decode_batch(batch.raw, lenient)[0]
        values = [value.hex() for value in values_of(batch)]
        return {"baseOffset": batch.base_offset, "partitionLeaderEpoch": batch.epoch, "values": values}

    with _wire_errors(str(path)):
        if path.name == "quorum-state":
            _show(decode_quorum_state(_read_text(str(path))))
        elif path.suffix in (".log", ".checkpoint"):
            raw = path.read_bytes()
            batches = tuple(batches_of(raw))
            _show({"batches": [document(batch) for batch in batches]})
            if rest := len(raw) - sum(len(batch.raw) for batch in batches):
                say(f"{path}: the last {rest} bytes are no whole batch", "yellow", console=stderr)
        else:
            raise usage_error(f"{path}: expected a log segment (.log), a snapshot (.checkpoint) or quorum-state")
    return ExitCode.CONFORMANT


def _decode_record(message: Message, frame: str, binary: bool, lenient: bool) -> int:
    if message.kind is Kind.TEXT:
        from kraft_kafka.wire.quorum_state import decode_quorum_state

        _show(decode_quorum_state(_read_text("-") if frame == "-" else frame))
        return ExitCode.CONFORMANT
    from kraft_kafka.wire.batches import decode_batch

    batch, notes = decode_batch(_read_bytes(frame, binary), lenient)
    _check_types(batch, message)
    _show(batch)
    _show_notes(notes)
    return ExitCode.CONFORMANT


def _check_types(batch: dict[str, Any], message: Message) -> None:
    """Check that the batch's first record has the type of --record; a snapshot begins with several other types."""
    key = batch["records"][0]["key"]["type"]
    if key != message.key:
        expected = f"{message.key}, a {message.name}"
        raise WireError(Reason.UNKNOWN_API, "records[0].key.type", expected, str(key))


@contextmanager
def _wire_errors(source: str) -> Iterator[None]:
    try:
        yield
    except WireError as error:
        raise CommandError(f"{source}: {error}", ExitCode.BAD_INPUT) from error


def _find_message(find: Any, name: str) -> Any:
    try:
        return find(name)
    except WireError as error:
        raise usage_error(f"no {name!r} on the wire: expected {error.expected}") from error


def _check_version(message: Message, version: int | None) -> int:
    chosen = message.versions.high if version is None else version
    if not isinstance(chosen, int) or chosen not in message.versions:
        raise usage_error(f"version {chosen}: {message.name} has {message.versions}")
    return chosen


def _read_text(source: str) -> str:
    """Read a file, or standard input."""
    try:
        raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}", ExitCode.NO_INPUT) from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError(
            Reason.BAD_UTF8, "text", "UTF-8", raw[error.start : error.start + 4].hex(), error.start
        ) from None


def _read_bytes(frame: str, binary: bool) -> bytes:
    from kraft_kafka.wire.encoding import hex_bytes

    if binary:
        return sys.stdin.buffer.read()
    return hex_bytes(_read_text("-") if frame == "-" else frame, "hex")


def _write(raw: bytes, binary: bool) -> int:
    if binary:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    else:
        print(raw.hex())
    return ExitCode.CONFORMANT


def _show(document: Any) -> None:
    # ASCII, because strings of a frame may contain control characters that a terminal would execute.
    print(json.dumps(document, indent=2))


def _show_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"taken, though Kafka never writes it: {note}", console=stderr)
