"""The pairs of Kafka's bytes and JSON that the package carries: what is in them, who makes and who checks them."""
