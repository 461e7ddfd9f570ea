"""Texts for all formats; control characters in an adapter's output are made visible."""

from typing import Any

from kraft_vectors.texts import shown_fields

TEXT_MAX = 2_000
"""Maximum number of displayed characters of a value."""

_HIDDEN = ("source", "cluster_id", "id")


def visible(text: object, keep: str = "") -> str:
    """Return a text with visible control characters, except those in `keep`."""
    whole = str(text)
    if all(part.isprintable() for part in (whole.split(keep) if keep else [whole])):
        return whole
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in whole)


def clip(text: object, most: int = TEXT_MAX) -> str:
    """Return a text with visible control characters, clipped at `most`."""
    whole = str(text)
    beginning = visible(whole[:most])
    return beginning if len(whole) <= most else f"{beginning}… ({len(whole) - most} more characters)"


def output_name(effect: dict[str, Any]) -> str:
    """Return the name of an output, such as `Send VoteResponse to 1`, `StartTimer election` or `FlushLog`."""
    match effect:
        case {"kind": "Send", "message": {"type": kind, "destination": to}}:
            return f"Send {kind} to {to}"
        case {"kind": "Send", "message": {"type": kind}}:
            return f"Send {kind}"
        case {"kind": "Answer", "reply": {"request": request}}:
            return f"Answer to request {request}"
        case {"kind": "StartTimer", "timer": timer}:
            return f"StartTimer {timer}"
        case _:
            return str(effect.get("kind"))


def output_words(effect: dict[str, Any]) -> str:
    """Return an output with its fields in a line."""
    fields = {name: value for name, value in effect.items() if name not in ("kind", "duration_ms", "timer")}
    inner = fields.pop("message", None) or fields.pop("reply", None)
    if isinstance(inner, dict):
        hidden = (*_HIDDEN, "type", "destination", "request")
        fields = {name: value for name, value in inner.items() if name not in hidden}
    return f"{output_name(effect)}: {shown_fields(fields)}" if fields else output_name(effect)
