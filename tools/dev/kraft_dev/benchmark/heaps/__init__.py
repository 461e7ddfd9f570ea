"""How fast heaps of traces are checked: the pipeline on one core and two, beside bare checkers, and as heaps grow."""
