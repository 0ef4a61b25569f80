"""Creates an organization with a passkey and acts in it with that passkey alone. The unmodified fido2 creates the data
of authenticator and browser, with a key of cryptography. Prints its observations as one JSON object.

    python passkey.py CREDENTIALS_FILE
"""

import hashlib
import json
import os
import sys
import time

import requests
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

with open(sys.argv[1], encoding="utf-8") as file:
    CREDENTIALS = json.load(file)
ORIGIN = "https://keys.example.org"
RELYING_PARTY = hashlib.sha256(b"keys.example.org").digest()
FLAG = AuthenticatorData.FLAG


class Passkey:
    """A key in an authenticator with a signature counter."""

    def __init__(self):
        self.secret = ec.generate_private_key(ec.SECP256R1())
        self.credential_id = os.urandom(32)
        self.count = 0

    def registration(self, name):
        challenge = os.urandom(32)
        client_data = CollectedClientData.create(
            type=CollectedClientData.TYPE.CREATE, challenge=challenge, origin=ORIGIN
        )
        key = ES256.from_cryptography_key(self.secret.public_key())
        credential_data = AttestedCredentialData.create(Aaguid(b"quorate-fido2-py"), self.credential_id, key)
        data = AuthenticatorData.create(RELYING_PARTY, FLAG.UP | FLAG.UV | FLAG.AT, self.count, credential_data)
        attestation = AttestationObject.create("none", data, {})
        return {
            "authenticatorName": name,
            "challenge": websafe_encode(challenge),
            "attestation": {
                "credentialId": websafe_encode(self.credential_id),
                "clientDataJson": websafe_encode(bytes(client_data)),
                "attestationObject": websafe_encode(bytes(attestation)),
                "transports": ["AUTHENTICATOR_TRANSPORT_HYBRID", "AUTHENTICATOR_TRANSPORT_INTERNAL"],
            },
        }

    def stamp(self, body):
        self.count += 1
        client_data = CollectedClientData.create(
            type=CollectedClientData.TYPE.GET,
            challenge=hashlib.sha256(body).hexdigest().encode(),
            origin=ORIGIN,
        )
        data = AuthenticatorData.create(RELYING_PARTY, FLAG.UP, self.count)
        signature = self.secret.sign(bytes(data) + client_data.hash, ec.ECDSA(hashes.SHA256()))
        return json.dumps({
            "credentialId": websafe_encode(self.credential_id),
            "authenticatorData": websafe_encode(bytes(data)),
            "clientDataJson": websafe_encode(bytes(client_data)),
            "signature": websafe_encode(signature),
        })


def post(path, body, stamp):
    headers = {"Content-Type": "application/json", "X-Stamp-WebAuthn": stamp}
    answer = requests.post(CREDENTIALS["baseUrl"] + path, data=body, headers=headers, timeout=60)
    return {"status": answer.status_code, "body": answer.json()}


def submit(passkey, kind, parameters, organization=None):
    operation = kind.removesuffix("_V2").removesuffix("_V3").lower()
    envelope = {"type": f"ACTIVITY_TYPE_{kind}", "timestampMs": str(time.time_ns() // 1_000_000), "parameters": parameters}
    if organization is not None:
        envelope["organizationId"] = organization
    body = json.dumps(envelope).encode()
    return post(f"/public/v1/submit/{operation}", body, passkey.stamp(body))


def query(passkey, name, organization):
    body = json.dumps({"organizationId": organization}).encode()
    return post(f"/public/v1/query/{name}", body, passkey.stamp(body))


def main():
    passkey, second = Passkey(), Passkey()
    registered = passkey.registration("creator")
    parameters = {"organizationName": "By passkey", "rootEmail": "creator@example.org", "rootAuthenticator": registered}
    seen = {"credentialId": websafe_encode(passkey.credential_id)}
    seen["stolen"] = submit(second, "CREATE_ORGANIZATION_V2", parameters)
    seen["created"] = submit(passkey, "CREATE_ORGANIZATION_V2", parameters)
    organization = seen["created"]["body"]["activity"]["organizationId"]
    seen["whoami"] = query(passkey, "whoami", organization)
    seen["users"] = query(passkey, "list_users", organization)
    seen["wallet"] = submit(passkey, "CREATE_WALLET", {"walletName": "first", "accounts": []}, organization)
    user = seen["whoami"]["body"]["userId"]
    more = {"userId": user, "authenticators": [second.registration("second")]}
    seen["second"] = submit(passkey, "CREATE_AUTHENTICATORS_V2", more, organization)
    seen["bySecond"] = query(second, "whoami", organization)
    seen["elsewhere"] = query(passkey, "whoami", CREDENTIALS["organizationId"])
    json.dump(seen, sys.stdout)


main()
