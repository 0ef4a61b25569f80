"""Checks a backup as docs/src/reference/backup-format.md describes it, without a key. Prints what it states."""

import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def check(data):
    head_line, rest = data[: data.index(b"\n") + 1], data[data.index(b"\n") + 1 :]
    head = json.loads(head_line)
    assert head["format"] == "quorate-backup/1"
    chain, frames, size, last = hashlib.sha256(head_line).digest(), 0, 0, False
    while not last:
        word = int.from_bytes(rest[:4], "big")
        last, length = bool(word >> 31), word & 0x7FFFFFFF
        frame = rest[4 : 4 + length]
        assert len(frame) == length and (last or length == 262_160)
        chain = hashlib.sha256(chain + rest[:4] + frame).digest()
        frames, size, rest = frames + 1, size + length - 16, rest[4 + length :]
    trailer_line, signature, end = rest.split(b"\n")
    trailer = json.loads(trailer_line)
    assert (trailer["frames"], trailer["bytes"], end) == (frames, size, b"")
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(head["publicKey"]))
    key.verify(bytes.fromhex(signature.decode()), b"quorate-backup/1\n" + chain + trailer_line)
    return {"storeId": head["storeId"], "publicKey": head["publicKey"], "records": trailer["records"]}


def main():
    data = open(sys.argv[1], "rb").read()
    stated = check(data)
    refused = 0
    for place in range(0, len(data), max(1, len(data) // 200)):
        changed = bytearray(data)
        changed[place] ^= 1
        try:
            check(bytes(changed))
        except (AssertionError, InvalidSignature, KeyError, ValueError):
            refused += 1
        else:
            raise SystemExit(f"a changed byte at {place} was accepted")
    print(json.dumps({**stated, "refused": refused}))


main()
