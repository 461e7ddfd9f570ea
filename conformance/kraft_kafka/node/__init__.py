"""The reference as a process of its own: a real voter or observer that serves Kafka's protocol over TCP.

It is an executable specification, not a product: it listens on the loopback interface by default, keeps everything but
the disk in memory, and supports no security protocol.
`driver` has the clock and carries out the reference's effects, `disk` has Kafka's files, `serving` its requests.
"""
