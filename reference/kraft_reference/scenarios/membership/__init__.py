"""The membership scenarios S1 to S19: voter changes of KIP-853 as schedules, table by table.

The docstring of a script says where it reads its table in another way than it stands there.
"""
