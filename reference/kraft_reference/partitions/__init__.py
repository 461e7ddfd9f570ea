"""Reassignment of the partitions of topics (KIP-455): the controller's part, as a pure state machine.

A partition has replicas R, the in-sync ones I among them, and while it is reassigned the replicas that join (AR) and
those that leave (RR).
The operator names the replicas TR that there shall be in the end.
The controller widens R to everything that is in the old replicas or in TR, waits until the joining replicas are in
sync, and only then lets the leaving ones go.
So at every moment every replica that counted before still counts, or those that replace it are in sync.

`controller.handle` takes the state and one event and gives the state after, and effects in the order in which they
take place: store, tell the replicas that stay, stop those that go, answer.
The in-sync replicas are the partition leader's to change; here that is one of the events.
A controller that takes over has nothing but what was stored.

Nothing here knows of the quorum: KIP-455 is the same whether ZooKeeper or the metadata log keeps what is stored.
"""
