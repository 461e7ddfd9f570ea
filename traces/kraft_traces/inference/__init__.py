"""Hidden events of replicas that nobody sees into, inferred from their messages by searching the model.

What comes of it is a kraft-trace/1, which the ordinary checker judges: a wrong guess can make a right run look wrong,
never the other way round.
"""
