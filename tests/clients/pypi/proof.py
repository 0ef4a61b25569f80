"""Verifies proof bundles as docs/src/reference/proof-bundles.md describes, with public keys alone and without any code of
this project. Prints what it verified of each file as one JSON object.

    python proof.py BUNDLE...
"""

import base64
import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from fido2 import cbor
from fido2.cose import CoseKey

CURVES = {
    "SIGNATURE_SCHEME_TK_API_P256": ec.SECP256R1(),
    "SIGNATURE_SCHEME_TK_API_SECP256K1": ec.SECP256K1(),
}
VOTES = {
    "ACTIVITY_TYPE_APPROVE_ACTIVITY": "VOTE_SELECTION_APPROVED",
    "ACTIVITY_TYPE_REJECT_ACTIVITY": "VOTE_SELECTION_REJECTED",
}


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def verify_passkey(vote, message):
    assertion = json.loads(vote["signature"])
    client_data = unpadded(assertion["clientDataJson"])
    digits = hashlib.sha256(message).hexdigest().encode()
    if unpadded(json.loads(client_data)["challenge"]) != digits:
        raise InvalidSignature
    signed = unpadded(assertion["authenticatorData"]) + hashlib.sha256(client_data).digest()
    key = CoseKey.parse(cbor.decode(unpadded(vote["publicKey"])))
    key.verify(signed, unpadded(assertion["signature"]))


def verify(vote):
    message = vote["message"].encode()
    scheme = vote["scheme"]
    if scheme == "SIGNATURE_SCHEME_TK_WEBAUTHN":
        return verify_passkey(vote, message)
    key, signature = bytes.fromhex(vote["publicKey"]), bytes.fromhex(vote["signature"])
    if scheme == "SIGNATURE_SCHEME_TK_API_ED25519":
        return ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVES[scheme], key)
    return key.verify(signature, message, ec.ECDSA(hashes.SHA256()))


def is_signed(vote):
    try:
        verify(vote)
        return True
    except (InvalidSignature, ValueError, KeyError):
        return False


def is_about(vote, proposal, fingerprint):
    body, proposed = json.loads(vote["message"]), json.loads(proposal["message"])
    return (
        VOTES.get(body["type"]) == vote["stated"]["selection"]
        and body["organizationId"] == proposed["organizationId"]
        and body["parameters"]["fingerprint"] == fingerprint
    )


def check(path):
    with open(path, encoding="utf-8") as file:
        bundle = json.load(file)
    if (bundle["format"], bundle["version"]) != ("quorate-proof", 1):
        return {"error": "another format"}
    canonical = json.dumps(bundle["content"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    signed = bundle["content"]["signed"]
    fingerprint, votes = signed["fingerprint"], signed["votes"]
    digests = ["sha256:" + hashlib.sha256(vote.get("message", "").encode()).hexdigest() for vote in votes]
    proposals = [vote for vote, digest in zip(votes, digests) if digest == fingerprint]
    if len(proposals) != 1:
        return {"error": "no bytes of the fingerprint"}
    proposal = proposals[0]
    return {
        "undamaged": hashlib.sha256(canonical.encode()).hexdigest() == bundle["contentSha256"],
        "fingerprint": fingerprint,
        "type": json.loads(proposal["message"])["type"],
        "schemes": [vote["scheme"] for vote in votes],
        "signed": [is_signed(vote) for vote in votes],
        "about": [vote is proposal or is_about(vote, proposal, fingerprint) for vote in votes],
    }


print(json.dumps([check(path) for path in sys.argv[1:]]))
