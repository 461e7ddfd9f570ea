"""What only the developers of kraft-spec run: broken references, what notices them, what is reached, how fast it is.

`vectors`, `wire`, `schemas` and `samples` make the data that the packages carry.

`python -m kraft_dev` lists the commands. No package that is installed imports this one.
"""
