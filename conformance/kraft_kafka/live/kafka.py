"""Predefined commands for Apache Kafka's controller."""

import shlex
from collections.abc import Mapping, Sequence

from kraft_kafka.controllers import controller
from kraft_kafka.jars import Kafka
from kraft_kafka.live.process import Commands
from kraft_spec.tlc.jar import find_java

_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
"""Runs are short, so only the fast compiler pays off."""


def kafka_commands(version_or_folder: str, options: Sequence[str] = ()) -> Commands:
    """Return the commands of a release, or of the jars in a folder, with further options of Java at its start.

    Raises:
        KafkaUnavailableError: there is no such Kafka, or it cannot be fetched.
        JavaMissing: there is no Java.
        OSError: the cache cannot be written.
    """
    return commands_of(controller(version_or_folder), {"org.slf4j.simpleLogger.defaultLogLevel": "warn"}, options)


def commands_of(kafka: Kafka, properties: Mapping[str, str], options: Sequence[str] = ()) -> Commands:
    """Return the commands of a controller with these system properties, and further options of Java at its start.

    Raises:
        JavaMissing: there is no Java.
    """
    path = ":".join(str(file) for file in kafka.class_path)
    defined = (f"-D{name}={value}" for name, value in properties.items())
    java = [str(find_java().executable), *_OPTIONS, *defined, "-cp", path]
    return Commands(
        shlex.join([java[0], *options, *java[1:], "kafka.Kafka", "{properties}"]),
        f"{shlex.join([*java, 'kafka.tools.StorageTool', 'format'])} -t {{cluster_id}} -c {{properties}} {{initial}}",
    )
