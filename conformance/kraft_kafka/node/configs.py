"""IncrementalAlterConfigs and DescribeConfigs: values are stored and returned, but have no effect here.

That includes the throttles of a reassignment, which brokers enforce.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kraft_kafka.node.controller import TOPIC, Controller
from kraft_kafka.node.image import Image
from kraft_kafka.wire.error_codes import (
    BROKER_ID_NOT_REGISTERED,
    CODES,
    INVALID_CONFIG,
    NOT_CONTROLLER,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kraft_kafka.wire.metadata_records import encode_metadata_record
from kraft_reference.messages import Error

BROKER = 4
_SET, _DELETE = 0, 1
_SOURCES = {TOPIC: 1, BROKER: 2}
"""Config sources: dynamic topic config, dynamic broker config."""


def _check_resource(controller: Controller, image: Image, kind: int, name: str) -> int:
    """Return the error code for a resource; 0 if it exists."""
    nodes = [*image.brokers, *(voter.id for voter in controller.node.replica.state.voters)]
    if kind == TOPIC:
        return 0 if name in image.topics else UNKNOWN_TOPIC_OR_PARTITION
    if kind == BROKER:
        return 0 if name in ("", *map(str, nodes)) else BROKER_ID_NOT_REGISTERED
    return CODES[Error.INVALID_REQUEST]


async def incremental_alter_configs(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Set and delete values; each resource has its own result."""
    results = []
    for resource in request.resources:

        def decide(image: Image, resource: Any = resource) -> tuple[Sequence[bytes], int]:
            code = _check_resource(controller, image, resource.resource_type, resource.resource_name)
            if code == 0 and any(config.config_operation not in (_SET, _DELETE) for config in resource.configs):
                code = INVALID_CONFIG
            values = [
                encode_metadata_record(
                    "ConfigRecord",
                    resourceType=resource.resource_type,
                    resourceName=resource.resource_name,
                    name=config.name,
                    value=config.value if config.config_operation == _SET else None,
                )
                for config in resource.configs
                if _is_change(image, resource, config)
            ]
            return () if code or request.validate_only else values, code

        results.append(_result(resource, await controller.write(decide, NOT_CONTROLLER)))
    return {"responses": results}


def _is_change(image: Image, resource: Any, config: Any) -> bool:
    current = image.configs.get((resource.resource_type, resource.resource_name), {}).get(config.name)
    return bool(current != (config.value if config.config_operation == _SET else None))


def _result(resource: Any, code: int) -> dict[str, Any]:
    return {
        "error_code": code,
        "error_message": None,
        "resource_type": resource.resource_type,
        "resource_name": resource.resource_name,
    }


async def describe_configs(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Return the values that are set, as far as this node has read them; no defaults."""
    image, results = controller.image, []
    for resource in request.resources:
        kind, name, wanted = resource.resource_type, resource.resource_name, resource.configuration_keys
        values = image.configs.get((kind, name), {})
        configs: list[dict[str, Any]] = [
            {
                "name": key,
                "value": value,
                "read_only": False,
                "config_source": _SOURCES.get(kind, -1),
                "is_sensitive": False,
                "synonyms": [],
                "documentation": None,
            }
            for key, value in sorted(values.items())
            if wanted is None or key in wanted
        ]
        results.append(_result(resource, _check_resource(controller, image, kind, name)) | {"configs": configs})
    return {"results": results}
