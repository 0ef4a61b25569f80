"""Checks checkpoints and proofs of the activity log as docs/src/reference/activity-log.md describes them.

Arguments: two checkpoints in the order in which they were made, the second one with the proof, and a proof bundle.
"""

import base64
import copy
import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def opened(answer):
    """Verifies a checkpoint. Returns its size, root and epoch."""
    name, key_id, encoded = answer["verifierKey"].split("+", 2)
    key = base64.b64decode(encoded, validate=True)
    assert key[0] == 1 and sha256(name.encode(), b"\n", key)[:4].hex() == key_id
    text, line = answer["checkpoint"].split("\n\n")
    text += "\n"
    mark, signer, signature = line.rstrip("\n").split(" ")
    signature = base64.b64decode(signature, validate=True)
    assert (mark, signer, signature[:4].hex()) == ("\u2014", name, key_id)
    Ed25519PublicKey.from_public_bytes(key[1:]).verify(signature[4:], text.encode())
    origin, size, root, time, epoch = text.splitlines()
    assert origin == name and time.startswith("time ") and epoch.startswith("epoch ")
    return int(size), base64.b64decode(root, validate=True), int(epoch[6:])


def consistent(first, first_root, second, second_root, proof):
    """RFC 9162 section 2.1.4.2, which verifies the proofs of RFC 6962 section 2.1.2."""
    if first == second:
        return first_root == second_root and not proof
    if not 0 < first < second or not proof:
        return False
    if first & (first - 1) == 0:
        proof = [first_root] + proof
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = proof[0]
    for node in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = sha256(b"\x01", node, fr), sha256(b"\x01", node, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = sha256(b"\x01", sr, node)
        fn, sn = fn >> 1, sn >> 1
    return (fr, sr, sn) == (first_root, second_root, 0)


def included(leaf, index, size, root, proof):
    """RFC 9162 section 2.1.3.2, which verifies the proofs of RFC 6962 section 2.1.1."""
    if index >= size:
        return False
    fn, sn, node = index, size - 1, leaf
    for other in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            node = sha256(b"\x01", other, node)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = sha256(b"\x01", node, other)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and node == root


def hashes(texts):
    return [base64.b64decode(text, validate=True) for text in texts]


def follows(earlier, later):
    (first, first_root, epoch), (second, second_root, later_epoch) = opened(earlier), opened(later)
    assert earlier["verifierKey"] == later["verifierKey"] and epoch == later_epoch
    return consistent(first, first_root, second, second_root, hashes(later.get("consistency", [])))


def logged(bundle):
    """Verifies that the log has the activity of a bundle. Returns the index of its entry."""
    stated, signed = bundle["content"]["stated"], bundle["content"]["signed"]
    log, activity = stated["log"], stated["activity"]
    assert log["state"] == "included"
    lines = [
        "quorate/activity/1",
        activity["organizationId"],
        activity["id"],
        signed["fingerprint"],
        activity["status"],
        str(len(signed["votes"])),
    ]
    leaf = sha256(b"\x00", "".join(line + "\n" for line in lines).encode())
    size, root, _ = opened(log)
    assert included(leaf, log["index"], size, root, hashes(log["proof"]))
    return log["index"]


def refuses(check, *arguments):
    try:
        return check(*arguments) is False
    except (AssertionError, InvalidSignature, ValueError):
        return True


def main():
    earlier, later, bundle = (json.load(open(path)) for path in sys.argv[1:4])
    size, later_size = opened(earlier)[0], opened(later)[0]
    assert follows(earlier, later)
    index = logged(bundle)
    # What was changed is refused.
    assert refuses(follows, later, {**earlier, "consistency": later["consistency"]})
    assert refuses(follows, earlier, {**later, "consistency": later["consistency"][1:]})
    text = later["checkpoint"]
    assert refuses(opened, {**later, "checkpoint": text.replace(f"\n{later_size}\n", f"\n{later_size + 1}\n")})
    for path, value in [("status", "ACTIVITY_STATUS_FAILED"), ("id", bundle["content"]["stated"]["activity"]["organizationId"])]:
        changed = copy.deepcopy(bundle)
        changed["content"]["stated"]["activity"][path] = value
        assert refuses(logged, changed)
    changed = copy.deepcopy(bundle)
    changed["content"]["signed"]["votes"].pop()
    assert refuses(logged, changed)
    print(json.dumps({"sizes": [size, later_size], "index": index}))


main()
