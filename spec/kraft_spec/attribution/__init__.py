"""Which rule a wrong step breaks, by what differs.

`attributed` plays the step again on the reference with one thing in it done otherwise at a time: a comparison that
comes out the other way, a field that is not set, a call that is left out, a rule that is switched off.
Where that is just what was seen, the rules named in the reference at that place are those that are not kept.
"""

from kraft_spec.attribution.attributing import Attribution, Given, attributed
from kraft_spec.attribution.citing import rules_around

__all__ = ["Attribution", "Given", "attributed", "rules_around"]
