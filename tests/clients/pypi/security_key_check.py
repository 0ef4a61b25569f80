"""Uses the security key of security_key.py with the unmodified client of fido2, which shows that it is one. Prints its
observations as one JSON object.

    python security_key_check.py SOCKET PIN
"""

import json
import os
import socket
import sys

from fido2.attestation import PackedAttestation
from fido2.cose import ES256
from fido2.ctap import CtapError
from fido2.ctap2 import Ctap2
from fido2.ctap2.pin import ClientPin, PinProtocolV1, PinProtocolV2
from fido2.hid import CtapHidDevice
from fido2.hid.base import CtapHidConnection, HidDescriptor

RELYING_PARTY = "keys.example.org"


class Packets(CtapHidConnection):
    def __init__(self, path):
        self.stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.stream.connect(path)

    def read_packet(self):
        data = b""
        while len(data) < 64:
            data += self.stream.recv(64 - len(data))
        return data

    def write_packet(self, packet):
        self.stream.sendall(packet)

    def close(self):
        self.stream.close()


def observe(path, pin, protocol):
    descriptor = HidDescriptor(path, 0, 0, 64, 64, "software", None)
    ctap = Ctap2(CtapHidDevice(descriptor, Packets(path)))
    client_pin = ClientPin(ctap, protocol)
    client_data_hash = os.urandom(32)

    def token(permission):
        return client_pin.get_pin_token(pin, permission, RELYING_PARTY)

    created = ctap.make_credential(
        client_data_hash,
        {"id": RELYING_PARTY, "name": "Example"},
        {"id": b"user", "name": "user"},
        [{"type": "public-key", "alg": ES256.ALGORITHM}],
        pin_uv_param=protocol.authenticate(token(ClientPin.PERMISSION.MAKE_CREDENTIAL), client_data_hash),
        pin_uv_protocol=protocol.VERSION,
    )
    PackedAttestation().verify(created.att_stmt, created.auth_data, client_data_hash)
    credential = created.auth_data.credential_data
    allowed = [{"type": "public-key", "id": credential.credential_id}]
    used = ctap.get_assertion(
        RELYING_PARTY,
        client_data_hash,
        allowed,
        pin_uv_param=protocol.authenticate(token(ClientPin.PERMISSION.GET_ASSERTION), client_data_hash),
        pin_uv_protocol=protocol.VERSION,
    )
    used.verify(client_data_hash, credential.public_key)
    try:
        ctap.get_assertion("other.example.org", client_data_hash, allowed)
        other = None
    except CtapError as error:
        other = error.code.name
    try:
        client_pin.get_pin_token(pin + "0", ClientPin.PERMISSION.GET_ASSERTION, RELYING_PARTY)
        wrong = None
    except CtapError as error:
        wrong = error.code.name
    retries = client_pin.get_pin_retries()[0]
    token(ClientPin.PERMISSION.GET_ASSERTION)
    return {"userVerified": used.auth_data.is_user_verified(), "other": other, "wrong": wrong, "retries": retries}


def main():
    path, pin = sys.argv[1:]
    seen = [observe(path, pin, protocol) for protocol in (PinProtocolV2(), PinProtocolV1())]
    json.dump(seen, sys.stdout)


main()
