"""Brokers at the controller: their registration, and the heartbeats with which they are alive or not.

No clock judges a broker here: it is alive from a heartbeat that does not ask to be fenced to one that does.
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
    """A broker's addresses and its epoch; another process than the last one is fenced to begin with."""

    def decide(image: Image) -> tuple[Sequence[bytes], tuple[int, int]]:
        incarnation = text_of(request.incarnation_id)
        known = image.brokers.get(request.broker_id)
        if request.cluster_id != controller.node.disk.cluster_id:
            return (), (CODES[Error.INCONSISTENT_CLUSTER_ID], -1)
        if known is None or known.incarnation_id != incarnation:
            if known is not None and not known.is_fenced:
                return (), (DUPLICATE_BROKER_REGISTRATION, -1)
            # Kafka's: the offset at which the record is appended.
            epoch = controller.node.replica.state.log.end_offset
            known = Broker(epoch, incarnation, "", 0, None, is_fenced=True)
        return [_registered(request, known)], (0, known.epoch)

    code, epoch = await controller.write(decide, (NOT_CONTROLLER, -1))
    return {"error_code": code, "broker_epoch": epoch}


def _registered(request: Any, broker: Broker) -> bytes:
    return encode_metadata_record(
        "RegisterBrokerRecord",
        brokerId=request.broker_id,
        isMigratingZkBroker=False,
        incarnationId=broker.incarnation_id,
        brokerEpoch=broker.epoch,
        endPoints=[
            {"name": one.name, "host": one.host, "port": one.port, "securityProtocol": one.security_protocol}
            for one in request.listeners
        ],
        features=[
            {
                "name": one.name,
                "minSupportedVersion": one.min_supported_version,
                "maxSupportedVersion": one.max_supported_version,
            }
            for one in request.features
        ],
        rack=request.rack,
        fenced=broker.is_fenced,
        inControlledShutdown=False,
        logDirs=[text_of(one) for one in request.log_dirs],
    )


async def broker_heartbeat(controller: Controller, request: Any) -> Mapping[str, Any]:
    """A broker that knows its own registration is alive, unless it asks to be fenced or to end."""

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
