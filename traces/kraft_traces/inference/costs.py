"""What hidden events cost: the likelier, the less.

That what has come was handled is likely, that a timer fired is less so, and a restart is the last that is thought of.
"""

HANDLED_RESPONSE = 0.0
HANDLED_REQUEST = 0.1
WAITING_FETCH = 0.15
UNANSWERED = 1.5
"""More for a request that nobody sees answered."""
APPEND = 0.2
UNREAD_APPEND = 1.0
"""Of a record that nobody was seen to read."""
LATE = 0.3
"""Of what has come and is not handled when something is sent, each."""
LIKELY_LATE = 0.05
"""The same where nothing cheaper has helped."""
REQUEST_TIMEOUT = 1.0
SILENCE = 0.05
"""The same where no answer has come: the next request says that it was given up."""
OUT_OF_REACH = 0.5
"""A Fetch to the leader that nobody saw, and its timeout: the next one goes to another."""
LOST = 1.5
TIMER = 2.0
RESTART = 5.0
LIKELY_RESTART = 2.0
"""The same where nothing cheaper has helped."""
