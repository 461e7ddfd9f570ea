"""The membership scenarios S1 to S24, table by table: voter changes of KIP-853 and the quorum reassignment of KIP-642.

The docstring of a script says where it reads its table in another way than it stands there.
"""
