"""Facts for the generated pages as JSON values: `facts.json` of the site."""

from collections.abc import Mapping
from typing import Any

from msgspec import json
from tools.site.api_facts import api_facts
from tools.site.command_facts import command_facts
from tools.site.facts import Material, RuleFacts
from tools.site.kafka_facts import kafka_facts, profile_facts
from tools.site.model_facts import model_facts
from tools.site.names import ALL_SCENARIOS, attributes
from tools.site.proof_facts import proof_facts, theorem_facts

from kraft_dev.mutants.recorded import recorded_counterexample
from kraft_mutants import Exhaustive
from kraft_simulation.workload import WORKLOADS
from kraft_spec.models import CHECKS

SCHEMA = "kraft-site-facts/1"


def site_facts(material: Material, rules: Mapping[str, RuleFacts], release: str) -> dict[str, Any]:
    """Return the facts of all subjects, which refer to each other by name.

    Args:
        material: Sources of the facts.
        rules: Facts about every rule.
        release: Version of the specification.
    """
    registry, mutants = material.registry, material.mutants.mutants
    searched = [mutant.name for mutant in mutants if isinstance(mutant.evidence, Exhaustive)]
    facts = {
        "schema": SCHEMA,
        "release": release,
        "groups": {group: [rule.id for rule in registry.group(group)] for group in registry.groups},
        "rules": {name: rule.as_data() for name, rule in rules.items()},
        **model_facts(material.repository, material.report),
        "checks": {check.name: attributes(check, "bounds groups violates") for check in CHECKS},
        "scenarios": {
            scenario.name: {
                **attributes(scenario, "number name title source rules"),
                "variants": [attributes(variant, "name outcome mutants violates") for variant in scenario.variants],
            }
            for scenario in ALL_SCENARIOS
        },
        "workloads": {preset.name: preset.summary for preset in WORKLOADS.values()},
        "mutants": {mutant.name: mutant for mutant in mutants},
        "counterexamples": {name: recorded_counterexample(name) for name in searched},
        "theorems": theorem_facts(),
        "proof": proof_facts(registry),
        "kafka": kafka_facts(registry),
        "profiles": profile_facts(),
        **command_facts(),
        "api": api_facts(material.repository),
    }
    # Convert tuples to lists, as a reader of the JSON file has them.
    data: dict[str, Any] = json.decode(json.encode(facts))
    return data
