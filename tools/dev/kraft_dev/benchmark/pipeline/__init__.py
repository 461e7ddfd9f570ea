"""How fast corpora of traces are checked: the pipeline on one core and two, beside bare checkers, with more traces."""
