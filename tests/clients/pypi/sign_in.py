"""Signs in by code and mail, and opens sessions, with the unmodified turnkey-http. Each way leads to a request that is
stamped by what it yielded. Prints the observations as one JSON object, which the scenario checks.

    python sign_in.py CREDENTIALS_FILE MAIL_FOLDER
"""

import base64
import hashlib
import json
import pathlib
import re
import sys
import time

import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from sealed import open_bundle, point, public_key, seal
from turnkey_api_key_stamper import ApiKeyStamper, ApiKeyStamperConfig
from turnkey_http import TurnkeyClient
from turnkey_sdk_types import (
    CreateReadOnlySessionBody,
    CreateReadWriteSessionBody,
    CreateUsersBody,
    EmailAuthBody,
    InitOtpAuthBody,
    InitOtpBody,
    OtpAuthBody,
    OtpLoginBody,
    SetOrganizationFeatureBody,
    StampLoginBody,
    TurnkeyError,
    VerifyOtpBody,
)

with open(sys.argv[1], encoding="utf-8") as file:
    CREDENTIALS = json.load(file)
MAILS = pathlib.Path(sys.argv[2])
CONTACT = "pypi@example.org"
APP = {"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT, "appName": "pypi app"}
SECONDS = 60


class Key:
    """A P-256 key that stamps requests."""

    def __init__(self, secret=None):
        self.secret = secret or ec.generate_private_key(ec.SECP256R1())
        compressed = serialization.PublicFormat.CompressedPoint
        self.public = self.secret.public_key().public_bytes(serialization.Encoding.X962, compressed).hex()

    @classmethod
    def of_bytes(cls, secret):
        return cls(ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256R1()))

    def client(self):
        return client(self.public, f"{self.secret.private_numbers().private_value:064x}")


def client(public, private):
    stamper = ApiKeyStamper(ApiKeyStamperConfig(api_public_key=public, api_private_key=private))
    return TurnkeyClient(CREDENTIALS["baseUrl"], stamper, CREDENTIALS["organizationId"], polling_interval_ms=20)


def who(key):
    return key.client().get_whoami().userId


class Mailbox:
    """Reads the mails in the order of their arrival."""

    count = 0

    def secret(self):
        """Waits for the next mail, and returns its secret, which has a line of its own."""
        self.count += 1
        path = MAILS / f"{self.count}.json"
        deadline = time.monotonic() + SECONDS
        while not path.exists():
            if time.monotonic() > deadline:
                raise TimeoutError("no mail arrives in time")
            time.sleep(0.01)
        mail = json.loads(path.read_text(encoding="utf-8"))
        assert mail["to"] == [CONTACT], mail
        return re.search(r"^ {4}(\S+)\r?$", mail["text"], re.MULTILINE).group(1)


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.b64decode(payload + "=" * (-len(payload) % 4), validate=True))


def verified(token, digests):
    """Returns whether the quorum key signed the token, over as many digests of its input."""
    start, signature = token.rsplit(".", 1)
    signature = base64.urlsafe_b64decode(signature + "==")
    r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:]))
    digest = start.encode()
    for _ in range(digests):
        digest = hashlib.sha256(digest).digest()
    key = public_key(bytes.fromhex(CREDENTIALS["quorumPublicKey"]))
    # Raises an error unless the signature is valid.
    key.verify(utils.encode_dss_signature(r, s), digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
    return True


def code(alice, mails):
    init = alice.init_otp(InitOtpBody(**APP))
    target = json.loads(bytes.fromhex(json.loads(init.otpEncryptionTargetBundle)["data"]))["targetPublic"]
    holder, session = Key(), Key()
    plaintext = json.dumps({"otp_code": mails.secret(), "public_key": holder.public})
    encapped, ciphertext = seal(bytes.fromhex(target), plaintext.encode())
    bundle = json.dumps({"encappedPublic": encapped.hex(), "ciphertext": ciphertext.hex()})
    verify = VerifyOtpBody(otpId=init.otpId, encryptedOtpBundle=bundle)
    token = alice.verify_otp(verify).verificationToken
    login = {"publicKey": session.public}
    message = json.dumps({"login": login, "tokenId": claims(token)["id"], "type": "USAGE_TYPE_LOGIN"})
    r, s = utils.decode_dss_signature(holder.secret.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
    scheme = "CLIENT_SIGNATURE_SCHEME_API_P256"
    signature = {"publicKey": holder.public, "scheme": scheme, "message": message, "signature": f"{r:064x}{s:064x}"}
    body = OtpLoginBody(verificationToken=token, publicKey=session.public, clientSignature=signature)
    opened = alice.otp_login(body).session
    return {"contact": claims(token)["contact"], "verified": [verified(token, 1), verified(opened, 2)], "who": who(session)}


def bundles(alice, mails):
    target = ec.generate_private_key(ec.SECP256R1())
    target_public = point(target.public_key()).hex()
    init = alice.init_otp_auth(InitOtpAuthBody(**APP))
    auth = OtpAuthBody(otpId=init.otpId, otpCode=mails.secret(), targetPublicKey=target_public)
    by_code = open_bundle(target, alice.otp_auth(auth).credentialBundle)
    customization = {"appName": "pypi app"}
    alice.email_auth(EmailAuthBody(email=CONTACT, targetPublicKey=target_public, emailCustomization=customization))
    by_mail = open_bundle(target, mails.secret())
    opened = alice.create_read_write_session(CreateReadWriteSessionBody(targetPublicKey=target_public))
    read_write = open_bundle(target, opened.credentialBundle)
    return [who(Key.of_bytes(secret)) for secret in (by_code, by_mail, read_write)]


def sessions(alice):
    session = Key()
    token = alice.stamp_login(StampLoginBody(publicKey=session.public)).session
    read_only = alice.create_read_only_session(CreateReadOnlySessionBody()).session
    body = json.dumps({"organizationId": CREDENTIALS["organizationId"]})
    url = CREDENTIALS["baseUrl"] + "/public/v1/query/whoami"
    answer = requests.post(url, data=body, headers={"X-Session": read_only}, timeout=SECONDS).json()
    return {"verified": verified(token, 2), "login": who(session), "readOnly": answer["userId"]}


def main():
    first = CREDENTIALS["rootUsers"][0]
    alice = client(first["publicKey"], first["privateKey"])
    mails = Mailbox()
    for name in ("OTP_EMAIL_AUTH", "EMAIL_AUTH"):
        alice.set_organization_feature(SetOrganizationFeatureBody(name=f"FEATURE_NAME_{name}", value=""))
    empty = {"apiKeys": [], "authenticators": [], "oauthProviders": [], "userTags": []}
    created = alice.create_users(CreateUsersBody(users=[{"userName": "pypi", "userEmail": CONTACT, **empty}]))
    seen = {"user": created.userIds[0], "code": code(alice, mails)}
    seen["bundles"] = bundles(alice, mails)
    seen["sessions"] = sessions(alice)
    try:
        alice.verify_otp(VerifyOtpBody(otpId=created.userIds[0], encryptedOtpBundle="{}"))
    except TurnkeyError as error:
        seen["error"] = str(error)
    json.dump(seen, sys.stdout)


main()
