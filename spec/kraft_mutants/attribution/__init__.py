"""Which rule a wrong step breaks, by what differs: one function for every tool.

`attributed` plays the step again on the reference with one rule of the catalogue of mutants broken at a time, and with
one thing in it done otherwise at a time: a comparison that comes out the other way, a field that is not set, a call
that is left out.
Where that is just what was seen, it is what is wrong.
"""

from kraft_mutants.attribution.attributing import Attribution, Compare, attributed
from kraft_mutants.attribution.citing import rules_around, rules_in
from kraft_mutants.attribution.defects import defect_line
from kraft_mutants.attribution.given import AnyGiven, Given, GivenToControllers
from kraft_mutants.attribution.mutated import does_otherwise
from kraft_mutants.attribution.ranking import because

__all__ = [
    "AnyGiven",
    "Attribution",
    "Compare",
    "Given",
    "GivenToControllers",
    "attributed",
    "because",
    "defect_line",
    "does_otherwise",
    "rules_around",
    "rules_in",
]
