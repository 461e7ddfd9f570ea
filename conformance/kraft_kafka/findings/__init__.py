"""Named findings: where a KIP, the catalogue or Apache Kafka as described is wrong or dangerous, with the evidence."""
