"""How the vectors of the package are made: scripts over real runs, each accepted by the model before it is written."""
