"""What files of controllers show, without a running cluster: their logs and disks, and output of Kafka's tools."""
