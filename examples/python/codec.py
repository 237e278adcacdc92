"""The payload codec of docs/any-language.md: AES-256-GCM under the ring keys.codec, and a tag of the ring keys.codecWrite where the
deployment has one."""

import base64
import hashlib
import hmac
import os
from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

IV_BYTES = 12

Ring = dict[str, bytes]


def parse_ring(text: str) -> Ring:
    """A ring is "id:base64,id:base64…": the first key encrypts, every key decrypts."""
    ring = {}
    for entry in text.split(","):
        key_id, _, encoded = entry.partition(":")
        ring[key_id] = base64.b64decode(encoded, validate=True)
        if len(ring[key_id]) != 32:
            raise ValueError("a key of the ring has not 32 bytes")
    return ring


class Codec(PayloadCodec):
    """The tag holds for one process, so each process has a codec of its own."""

    def __init__(self, ring: Ring, write_ring: Ring, namespace: str, workflow_id: str) -> None:
        self._ring = ring
        self._write_ring = write_ring
        self._process = f"trustflow\n{namespace}\n{workflow_id}\n".encode()

    async def encode(self, payloads: Iterable[Payload]) -> list[Payload]:
        return [self._sealed(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._opened(payload) for payload in payloads]

    def _sealed(self, payload: Payload) -> Payload:
        key_id, key = next(iter(self._ring.items()))
        iv = os.urandom(IV_BYTES)
        data = iv + AESGCM(key).encrypt(iv, payload.SerializeToString(), None)
        metadata = {"encoding": b"binary/encrypted", "encryption-key-id": key_id.encode()}
        if self._write_ring:
            metadata |= self.tag(data)
        return Payload(metadata=metadata, data=data)

    def tag(self, data: bytes) -> dict[str, bytes]:
        key_id, key = next(iter(self._write_ring.items()))
        tag = hmac.digest(key, self._process + data, hashlib.sha256)
        return {"trustflow-write-key-id": key_id.encode(), "trustflow-write-tag": tag}

    def _opened(self, payload: Payload) -> Payload:
        """Refuses what is not encrypted: anyone with access to Temporal can write that."""
        if payload.metadata.get("encoding") != b"binary/encrypted":
            raise ValueError("an answer is not encrypted")
        key = self._ring[payload.metadata["encryption-key-id"].decode()]
        iv, sealed = payload.data[:IV_BYTES], payload.data[IV_BYTES:]
        return Payload.FromString(AESGCM(key).decrypt(iv, sealed, None))
