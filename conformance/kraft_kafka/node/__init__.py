"""The reference as a process of its own: a real voter or observer that others talk to over TCP.

It is an executable specification, not a product: it listens on the loopback interface unless it is told otherwise,
keeps everything in memory beside the disk, and knows no security protocol.
`driver` has the clock and carries out what the reference asks for, `disk` has Kafka's files, `serving` its requests.
"""
