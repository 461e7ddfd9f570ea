"""Watch of the agent's files while Kafka writes them."""
