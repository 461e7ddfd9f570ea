"""A node with a known bug: `python node_without.py RULE PROPERTIES` is `kraft-spec node run` without a rule."""

import sys

from kraft_conformance.cli import main
from kraft_conformance.node import driver
from kraft_spec.experiments.replicas import replicas_without

rule, properties = sys.argv[1:]
vars(driver)["Replica"] = replicas_without([rule])
sys.exit(main(["node", "run", "-c", properties]))
