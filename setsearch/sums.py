"""Bytes that carry a checksum, so that a flipped one is noticed."""

import zlib

SIZE = 4


def with_sum(data: bytes) -> bytes:
    """The bytes, and their CRC-32 behind them."""
    return data + zlib.crc32(data).to_bytes(SIZE, "little")


def without_sum(data: bytes) -> bytes | None:
    """The inverse of `with_sum`; None where the checksum is another one."""
    body, sum = data[:-SIZE], data[-SIZE:]
    return body if len(sum) == SIZE and zlib.crc32(body) == int.from_bytes(sum, "little") else None
