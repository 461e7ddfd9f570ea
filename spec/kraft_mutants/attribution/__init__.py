"""Attribution of a wrong step to the rules that it breaks, the same for every tool.

`attributed` replays the step on the reference with one change at a time: a mutant of the catalogue, or another result
of one expression (a negated comparison, a field that is not set, a call that is skipped).
A change that reproduces the recorded outcome explains the step.
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
