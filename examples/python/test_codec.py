"""The codec against the examples of docs/any-language.md."""

import unittest

from cryptography.exceptions import InvalidTag
from temporalio.api.common.v1 import Payload

from codec import Codec, parse_ring

RING = parse_ring("k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
WRITE_RING = parse_ring("w1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=")
VALUE = b'{"code":"123456"}'
DATA = bytes.fromhex(
    "a0a1a2a3a4a5a6a7a8a9aaabec0e762520a561d0060ce9b41570aaad1fc27660fed62b028e1f5da41cc41164f04c65ce9d11670869be79475dbd26311f874eadc8503066c6818c"
)
TAG = "1d6577cf72e49fa3c85d325c50b6a5299ac156782cd3199515d96fcb5b4d56c5"
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=VALUE)


class CodecTest(unittest.IsolatedAsyncioTestCase):
    codec = Codec(RING, WRITE_RING, "default", "issueCertificate/order-7")

    async def test_reads_and_tags_the_example(self) -> None:
        metadata = {"encoding": b"binary/encrypted", "encryption-key-id": b"k1"}
        [read] = await self.codec.decode([Payload(metadata=metadata, data=DATA)])
        self.assertEqual(read, PLAIN)
        self.assertEqual(self.codec.tag(DATA)["trustflow-write-tag"].hex(), TAG)

    async def test_reads_what_it_writes(self) -> None:
        self.assertEqual(await self.codec.decode(await self.codec.encode([PLAIN])), [PLAIN])

    async def test_refuses_what_is_not_encrypted_or_changed(self) -> None:
        with self.assertRaises(ValueError):
            await self.codec.decode([PLAIN])
        [sealed] = await self.codec.encode([PLAIN])
        sealed.data = sealed.data[:-1] + bytes([sealed.data[-1] ^ 1])
        with self.assertRaises(InvalidTag):
            await self.codec.decode([sealed])


if __name__ == "__main__":
    unittest.main()
