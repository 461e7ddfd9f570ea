"""What the trace checker rejects in a broken reference's run, in few words."""

from kraft_traces.check import Rejection, RejectionKind

_RULES_NAMED = 2
_FIELDS_NAMED = 3


def why_rejected(rejection: Rejection) -> str:
    """Kind, fields and the rule named first."""
    match rejection.kind:
        case RejectionKind.PROPERTY:
            words = f"violates {', '.join(rejection.properties)}"
        case RejectionKind.NOT_ENABLED:
            words = f"{rejection.event} is not possible"
        case _:
            fields = list(dict.fromkeys(difference.field for difference in rejection.differences))
            more = len(fields) - _FIELDS_NAMED
            words = f"{rejection.event} differs in {', '.join(fields[:_FIELDS_NAMED])}"
            words += f" and {more} more" if more > 0 else ""
    if rejection.explained_by:
        return f"{words}; right without {', '.join(rejection.explained_by[:_RULES_NAMED])}"
    return f"{words}; rules {', '.join(rejection.rules[:_RULES_NAMED])}" if rejection.rules else words
