"""Brokers at the controller: registration, and the heartbeats that fence and unfence them.

No session timeout fences a broker here: it stays alive from a heartbeat that does not ask for fencing to one that does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kraft_kafka.node.controller import Controller
from kraft_kafka.node.image import Broker, Image
from kraft_kafka.wire.error_codes import (
    BROKER_ID_NOT_REGISTERED,
    CODES,
    DUPLICATE_BROKER_REGISTRATION,
    NOT_CONTROLLER,
    STALE_BROKER_EPOCH,
)
from kraft_kafka.wire.metadata_records import encode_metadata_record
from kraft_kafka.wire.other_requests import text_of
from kraft_partitions.events import BrokerFails, BrokerStarts
from kraft_reference.messages import Error

_FENCED, _UNFENCED = 1, -1


async def broker_registration(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Register a broker's addresses and epoch; a new process of a broker starts fenced."""

    def decide(image: Image) -> tuple[Sequence[bytes], tuple[int, int]]:
        incarnation = text_of(request.incarnation_id)
        broker = image.brokers.get(request.broker_id)
        if request.cluster_id != controller.node.disk.cluster_id:
            return (), (CODES[Error.INCONSISTENT_CLUSTER_ID], -1)
        if broker is None or broker.incarnation_id != incarnation:
            if broker is not None and not broker.is_fenced:
                return (), (DUPLICATE_BROKER_REGISTRATION, -1)
            # As in Kafka, the epoch is the offset of the registration record.
            epoch = controller.node.replica.state.log.end_offset
            broker = Broker(epoch, incarnation, "", 0, None, is_fenced=True)
        return [_registration_record(request, broker)], (0, broker.epoch)

    code, epoch = await controller.write(decide, (NOT_CONTROLLER, -1))
    return {"error_code": code, "broker_epoch": epoch}


def _registration_record(request: Any, broker: Broker) -> bytes:
    return encode_metadata_record(
        "RegisterBrokerRecord",
        brokerId=request.broker_id,
        isMigratingZkBroker=False,
        incarnationId=broker.incarnation_id,
        brokerEpoch=broker.epoch,
        endPoints=[
            {"name": end.name, "host": end.host, "port": end.port, "securityProtocol": end.security_protocol}
            for end in request.listeners
        ],
        features=[
            {
                "name": feature.name,
                "minSupportedVersion": feature.min_supported_version,
                "maxSupportedVersion": feature.max_supported_version,
            }
            for feature in request.features
        ],
        rack=request.rack,
        fenced=broker.is_fenced,
        inControlledShutdown=False,
        logDirs=[text_of(log_dir) for log_dir in request.log_dirs],
    )


async def broker_heartbeat(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Unfence a broker that knows its registration, unless it asks for fencing or shutdown."""

    def decide(image: Image) -> tuple[Sequence[bytes], tuple[int, bool]]:
        broker = image.brokers.get(request.broker_id)
        if broker is None or broker.epoch != request.broker_epoch:
            return (), (BROKER_ID_NOT_REGISTERED if broker is None else STALE_BROKER_EPOCH, True)
        is_behind = broker.is_fenced and request.current_metadata_offset < broker.epoch
        is_fenced = request.want_fence or request.want_shut_down or is_behind
        if is_fenced == broker.is_fenced:
            return (), (0, is_fenced)
        event = (BrokerFails if is_fenced else BrokerStarts)(request.broker_id)
        change = encode_metadata_record(
            "BrokerRegistrationChangeRecord",
            brokerId=request.broker_id,
            brokerEpoch=broker.epoch,
            fenced=_FENCED if is_fenced else _UNFENCED,
        )
        return [change, *controller.records(image, controller.outcome(image, event))], (0, is_fenced)

    code, is_fenced = await controller.write(decide, (NOT_CONTROLLER, True))
    return {
        "error_code": code,
        "is_caught_up": code == 0,
        "is_fenced": is_fenced,
        "should_shut_down": request.want_shut_down,
    }
