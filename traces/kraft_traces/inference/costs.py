"""Costs of hidden events: a likelier event costs less.

A received message was probably handled; a timer fires less often; a restart is least likely.
"""

HANDLED_RESPONSE = 0.0
HANDLED_REQUEST = 0.1
WAITING_FETCH = 0.15
UNANSWERED = 1.5
"""Additional cost of a request without a captured response."""
APPEND = 0.2
UNREAD_APPEND = 1.0
"""Cost of a record that no captured Fetch response has."""
LATE = 0.3
"""Cost of each received message that is not handled before a send."""
LIKELY_LATE = 0.05
"""The same, if no cheaper events explain the message."""
REQUEST_TIMEOUT = 1.0
SILENCE = 0.05
"""The same, if no response was captured: the next request shows that the replica gave up."""
OUT_OF_REACH = 0.5
"""Cost of an uncaptured Fetch to the leader and its timeout, after which the next Fetch goes to another replica."""
LOST = 1.5
TIMER = 2.0
RESTART = 5.0
LIKELY_RESTART = 2.0
"""The same, if no cheaper events explain the message."""
