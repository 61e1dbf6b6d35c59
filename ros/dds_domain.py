"""Participation in a DDS domain like ROS 2: the same variables, topic names and QoS policies.

Environment: ROS_DOMAIN_ID; ROS_AUTOMATIC_DISCOVERY_RANGE (SUBNET, LOCALHOST, OFF, SYSTEM_DEFAULT),
ROS_STATIC_PEERS, and ROS_LOCALHOST_ONLY of Humble; CYCLONEDDS_URI, whose settings come last and
thus override.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from robosim.errors import ExecutionError, MissingDependencyError

__all__ = ["DEPTH", "Participant", "configuration", "domain_id", "require_cyclonedds", "wire_name"]

# Length of queues: four seconds at 500 Hz, so that a stall of a second loses nothing.
DEPTH = 2000

_RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
# Highest domain with ports below 65536 for up to a hundred participants.
_MAX_DOMAIN = 232
# Number of processes per machine that can find each other by unicast discovery, as in ROS 2.
_MAX_PARTICIPANTS = 32
# Samples that wait for earlier ones. Fast DDS announces up to 3 s late (its heartbeat period) where
# a stream begins for a new reader. With Cyclone's default of 128, samples after the first 128 until
# then are lost.
_REORDER = 4 * DEPTH
# Vendor id of Fast DDS. From version 3 on (Kilted) its type descriptions look broken to Cyclone
# DDS, which then matches nothing. Without type descriptions, Cyclone compares the types' names, as
# it should.
_FAST_DDS = "1.15"


def require_cyclonedds() -> None:
    """Raise MissingDependencyError, with the remedy, if cyclonedds is not installed."""
    try:
        importlib.import_module("cyclonedds.domain")
    except ImportError as error:
        raise MissingDependencyError(
            f"the dds transport needs cyclonedds ({error}): pip install 'robosim[dds]'"
        ) from None


def wire_name(topic: str, namespace: str = "") -> str:
    """DDS name of a ROS 2 topic: rt/ and the full name. A name with a leading / has no namespace.

    Raises ExecutionError for an invalid ROS 2 name.
    """
    full = topic if topic.startswith("/") else f"{namespace.strip('/')}/{topic}"
    parts = full.strip("/").split("/")
    for part in parts:
        if not part.isidentifier() or not part.isascii() or "__" in part:
            raise ExecutionError(
                f"topic {topic!r} in namespace {namespace!r}: {part!r} is not a name that ROS 2"
                " takes; it takes letters, digits and single underscores, not beginning with a"
                " digit, between slashes"
            )
    return "rt/" + "/".join(parts)


def domain_id(environment: Mapping[str, str] = os.environ) -> int:
    """Domain of ROS_DOMAIN_ID, 0 by default. Raises ExecutionError for anything but 0 to 232."""
    text = environment.get("ROS_DOMAIN_ID", "").strip()
    if not text:
        return 0
    if not text.isdecimal() or int(text) > _MAX_DOMAIN:
        raise ExecutionError(f"ROS_DOMAIN_ID is {text!r}; valid are 0 to {_MAX_DOMAIN}")
    return int(text)


def configuration(environment: Mapping[str, str] = os.environ) -> str:
    """Configuration of Cyclone DDS from ROS 2's environment variables, followed by CYCLONEDDS_URI.

    Raises ExecutionError, which names the variable, its value and the valid values.
    """
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").strip().upper() or "SUBNET"
    if reach not in _RANGES:
        raise ExecutionError(
            f"ROS_AUTOMATIC_DISCOVERY_RANGE is {reach!r}; valid are {', '.join(_RANGES)}"
        )
    local_only = environment.get("ROS_LOCALHOST_ONLY", "").strip() or "0"
    if local_only not in ("0", "1"):
        raise ExecutionError(f"ROS_LOCALHOST_ONLY is {local_only!r}; valid are 0 and 1")
    # If both are set, the older variable counts, as in ROS 2.
    if local_only == "1":
        reach = "LOCALHOST"
    if reach == "OFF":
        raise ExecutionError(
            "ROS_AUTOMATIC_DISCOVERY_RANGE is 'OFF', which forbids to find an arm; set it to SUBNET"
            " or LOCALHOST"
        )
    peers = [
        peer.strip() for peer in environment.get("ROS_STATIC_PEERS", "").split(";") if peer.strip()
    ]

    general, discovery = "", ""
    if reach == "LOCALHOST":
        general = (
            '<Interfaces><NetworkInterface address="127.0.0.1" multicast="false"/></Interfaces>'
            "<AllowMulticast>false</AllowMulticast>"
        )
        peers = ["127.0.0.1", *peers]
    # Peers are contacted at their ports, so participants must have numbered ones.
    if peers and reach != "SYSTEM_DEFAULT":
        listed = "".join(f"<Peer address={quoteattr(peer)}/>" for peer in peers)
        discovery = (
            "<ParticipantIndex>auto</ParticipantIndex>"
            f"<MaxAutoParticipantIndex>{_MAX_PARTICIPANTS}</MaxAutoParticipantIndex>"
            f"<Peers>{listed}</Peers>"
        )
    ours = (
        "<CycloneDDS><Domain"
        f' Id="any"><General>{general}</General><Discovery>{discovery}</Discovery>'
        f"<Internal><PrimaryReorderMaxSamples>{_REORDER}</PrimaryReorderMaxSamples>"
        f"<SecondaryReorderMaxSamples>{_REORDER}</SecondaryReorderMaxSamples></Internal>"
        f"<Compatibility><IgnoreTypeInformation>{_FAST_DDS}</IgnoreTypeInformation></Compatibility>"
        "</Domain></CycloneDDS>"
    )
    users = environment.get("CYCLONEDDS_URI", "").strip()
    return f"{ours},{users}" if users else ours


class Participant:
    """Participant in the domain of the environment, with writers and readers of ROS 2's topics.

    Raises MissingDependencyError without cyclonedds; ExecutionError if a variable or the
    configuration is invalid.
    """

    def __init__(self, namespace: str = "", environment: Mapping[str, str] = os.environ) -> None:
        require_cyclonedds()
        from cyclonedds.core import DDSException
        from cyclonedds.domain import Domain, DomainParticipant

        self._namespace = namespace
        self._entities: list[Any] = []  # in order of creation
        self.domain_id = domain_id(environment)
        settings = configuration(environment)
        try:
            self._entities.append(Domain(self.domain_id, settings))
        except UnicodeEncodeError:
            raise ExecutionError(
                f"CYCLONEDDS_URI holds characters other than ASCII: {settings!r}"
            ) from None
        except DDSException as error:
            # The domain was opened before in this process, with the settings of that time.
            if error.code != DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
                raise ExecutionError(
                    f"Cyclone DDS cannot open domain {self.domain_id} ({error}); its configuration"
                    f" is {settings}"
                ) from None
        try:
            self._participant = DomainParticipant(self.domain_id)
        except DDSException as error:
            raise ExecutionError(
                f"Cyclone DDS cannot take part in domain {self.domain_id}: {error}"
            ) from None
        self._entities.append(self._participant)

    def writer(self, topic: str, type_: type[Any], *, latched: bool = False) -> Any:
        """Create a reliable cyclonedds DataWriter.

        It keeps the last DEPTH samples for slow readers.

        With `latched` it keeps the last sample for late readers (durability transient local).
        """
        from cyclonedds.pub import DataWriter

        qos = _qos(1 if latched else DEPTH, latched)
        return self._keep(DataWriter(self._participant, self._topic(topic, type_), qos=qos))

    def reader(self, topic: str, type_: type[Any], *, latched: bool = False) -> Any:
        """Create a reliable cyclonedds DataReader that keeps the last DEPTH samples until taken.

        With `latched` it requests samples from before it joined (durability transient local), and
        so matches only writers that keep them.
        """
        from cyclonedds.sub import DataReader

        return self._keep(
            DataReader(self._participant, self._topic(topic, type_), qos=_qos(DEPTH, latched))
        )

    def waitset(self, readers: Sequence[Any]) -> tuple[Any, Any]:
        """Create a cyclonedds WaitSet that wakes for samples, and a GuardCondition to wake it."""
        from cyclonedds.core import (
            GuardCondition,
            InstanceState,
            ReadCondition,
            SampleState,
            ViewState,
            WaitSet,
        )

        guard = self._keep(GuardCondition(self._participant))
        waitset = self._keep(WaitSet(self._participant))
        waitset.attach(guard)
        for reader in readers:
            condition = ReadCondition(
                reader, SampleState.NotRead | ViewState.Any | InstanceState.Any
            )
            waitset.attach(self._keep(condition))
        return waitset, guard

    def close(self) -> None:
        """Leave the domain, deleting entities in reverse order of creation.

        Readers and writers become invalid.
        """
        while self._entities:
            self._entities.pop()

    def _topic(self, topic: str, type_: type[Any]) -> Any:
        from cyclonedds.topic import Topic

        return self._keep(Topic(self._participant, wire_name(topic, self._namespace), type_))

    def _keep(self, entity: Any) -> Any:
        self._entities.append(entity)
        return entity


def _qos(depth: int, latched: bool) -> Any:
    from cyclonedds.qos import Policy, Qos

    # Longest time that a writer blocks, and that it lingers when deleted to deliver its last
    # samples.
    patience = 1_000_000_000
    return Qos(
        Policy.Reliability.Reliable(patience),
        Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(depth),
    )
