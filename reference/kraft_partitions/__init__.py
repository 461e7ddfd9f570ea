"""Reassignment of partitions (KIP-455): the controller's part, as a pure state machine, and its scenarios.

What is reassigned?
    A partition has replicas R, the in-sync ones I among them, and while it is reassigned the replicas that join (AR)
    and those that leave (RR).
    The operator names the replicas TR that the partition shall have in the end.

Why is no record lost?
    The controller extends R to the union of the old replicas and TR, waits until the joining replicas are in sync, and
    only then removes the leaving ones.
    At every moment each replica that counted before still counts, or those that replace it are in sync.

What goes in, what comes out?
    `controller.handle` takes the state and one event and returns the next state and the effects in their order: store,
    notify the replicas that stay, stop those that leave, reply.
    The partition leader changes I; here that is an event.
    A controller that takes over knows only what was stored.

What has it to do with the quorum?
    Nothing: KIP-455 is the same whether ZooKeeper or the metadata log stores the partition.

`scenarios` plays schedules of KIP-455 row by row, with the notation of `kraft_simulation.scenarios`.
It imports that notation and the standard library.
"""
