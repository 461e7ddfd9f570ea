"""Fields of every request and reply."""

from typing import Annotated

from msgspec import Meta, Struct

RequestId = Annotated[int, Meta(ge=1, le=2**63 - 1, description="Counts the requests from 1; the reply repeats it.")]


class Message(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type"):
    """A line of kraft-adapter/1."""

    id: RequestId
