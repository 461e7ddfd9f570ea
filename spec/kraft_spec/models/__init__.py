"""Named model checks, with their bounds, what they leave out, and their expected result."""

from kraft_spec.models.catalogue import CHECKS, GROUPS, checks_of, find_check
from kraft_spec.models.check import CheckReport, ModelCheck, UnknownCheck, Way, takes_profile, under_profile
from kraft_spec.models.configuration import Configuration
from kraft_spec.models.reading import CheckTableError, read_checks
from kraft_spec.models.running import (
    action_of,
    actions_of_next,
    counterexample_actions,
    fired_actions,
    model_directory,
    next_actions,
    run_check,
    write_model,
)

__all__ = [
    "CHECKS",
    "GROUPS",
    "CheckReport",
    "CheckTableError",
    "Configuration",
    "ModelCheck",
    "UnknownCheck",
    "Way",
    "action_of",
    "actions_of_next",
    "checks_of",
    "counterexample_actions",
    "find_check",
    "fired_actions",
    "model_directory",
    "next_actions",
    "read_checks",
    "run_check",
    "takes_profile",
    "under_profile",
    "write_model",
]
