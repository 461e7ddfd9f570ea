"""Apache Kafka itself behind kraft-adapter/1: its releases, their jars, and the adapter that is built with them."""
