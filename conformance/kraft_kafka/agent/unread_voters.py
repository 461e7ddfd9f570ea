"""Apache Kafka's finding `unread-voters` in a rejection of a recorded trace.

After a truncation a controller does not read the voters records that it appends below its old log end offset until it
restarts.  So its state shows the previous voter set.
"""

from kraft_traces.check.verdict import Rejection

UNREAD_VOTERS = "a controller uses an older voter set than its log has: Kafka's finding unread-voters"


def has_unread_voters(rejection: Rejection) -> bool:
    """True if the state has the voter set of an older record than the model's.

    Rules: voters.set-from-snapshot-and-log, voters.truncation-reverts.
    """
    return any(
        difference.field == "state.voters.offset"
        # The offset of the voter set from the formatting is -1.
        and difference.actual.removeprefix("-").isdecimal()
        and int(difference.actual) < int(difference.expected)
        for difference in rejection.differences
    )
