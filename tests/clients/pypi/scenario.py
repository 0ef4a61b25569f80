"""Does the main job with the unmodified turnkey-http against the daemon of a credentials file. Prints its observations
as one JSON object, which the scenario checks. This program only verifies signatures, with OpenSSL.

    python scenario.py CREDENTIALS_FILE
"""

import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from turnkey_api_key_stamper import ApiKeyStamper, ApiKeyStamperConfig
from turnkey_http import TurnkeyClient
from turnkey_sdk_types import (
    ApproveActivityBody,
    CreateApiKeysBody,
    CreateSubOrganizationBody,
    CreateUsersBody,
    CreateWalletBody,
    DeleteUsersBody,
    GetActivityBody,
    GetWalletAccountBody,
    GetWhoamiBody,
    SignRawPayloadBody,
    TurnkeyError,
    UpdateRootQuorumBody,
)

with open(sys.argv[1], encoding="utf-8") as file:
    CREDENTIALS = json.load(file)
FIRST, SECOND = CREDENTIALS["rootUsers"][:2]


def client(public_key, private_key, organization_id=CREDENTIALS["organizationId"]):
    stamper = ApiKeyStamper(ApiKeyStamperConfig(api_public_key=public_key, api_private_key=private_key))
    return TurnkeyClient(CREDENTIALS["baseUrl"], stamper, organization_id, polling_interval_ms=20)


def key_pair():
    secret = ec.generate_private_key(ec.SECP256R1())
    public = secret.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint
    )
    return public.hex(), f"{secret.private_numbers().private_value:064x}"


def failure(call):
    try:
        return {"unexpected": str(call())}
    except TurnkeyError as error:
        return {
            "name": type(error).__name__,
            "code": error.code.value,
            "status": getattr(error, "status_code", None),
            "message": str(error),
            "cause": error.cause,
            "activityId": getattr(error, "activity_id", None),
        }


def account(index, address_format):
    return {
        "curve": "CURVE_SECP256K1",
        "pathFormat": "PATH_FORMAT_BIP32",
        "path": f"m/44'/60'/0'/0/{index}",
        "addressFormat": address_format,
    }


def payload(sign_with, text):
    return SignRawPayloadBody(
        signWith=sign_with,
        payload=text,
        encoding="PAYLOAD_ENCODING_TEXT_UTF8",
        hashFunction="HASH_FUNCTION_SHA256",
    )


def api_key_user(name, public_key):
    return {
        "userName": name,
        "apiKeys": [{"apiKeyName": "first", "publicKey": public_key, "curveType": "API_KEY_CURVE_P256"}],
        "authenticators": [],
        "oauthProviders": [],
    }


def verified(result, text, public_key):
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), bytes.fromhex(public_key))
    signature = utils.encode_dss_signature(int(result.r, 16), int(result.s, 16))
    try:
        point.verify(signature, text.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def main():
    alice = client(FIRST["publicKey"], FIRST["privateKey"])
    bob = client(SECOND["publicKey"], SECOND["privateKey"])
    seen = {"whoami": alice.get_whoami(GetWhoamiBody()).model_dump()}

    accounts = [account(0, "ADDRESS_FORMAT_UNCOMPRESSED"), account(1, "ADDRESS_FORMAT_ETHEREUM")]
    wallet = alice.create_wallet(CreateWalletBody(walletName="pypi", accounts=accounts))
    public_key = wallet.addresses[0]
    stored = alice.get_wallet_account(GetWalletAccountBody(walletId=wallet.walletId, address=public_key)).account
    seen["wallet"] = {
        "walletId": wallet.walletId,
        "addresses": wallet.addresses,
        "status": wallet.activity.status.value,
        "path": stored.path,
    }

    signed = alice.sign_raw_payload(payload(public_key, "signed alone"))
    seen["signed"] = {
        "verified": verified(signed, "signed alone", public_key),
        "status": signed.activity.status.value,
    }

    child_public, child_private = key_pair()
    child = alice.create_sub_organization(
        CreateSubOrganizationBody(
            subOrganizationName="pypi child",
            rootUsers=[api_key_user("child root", child_public)],
            rootQuorumThreshold=1,
            wallet={"walletName": "child wallet", "accounts": accounts[:1]},
        )
    )
    child_client = client(child_public, child_private, child.subOrganizationId)
    child_address = child.wallet.addresses[0]
    child_signed = child_client.sign_raw_payload(payload(child_address, "signed in the child"))
    seen["child"] = {
        "subOrganizationId": child.subOrganizationId,
        "rootUserIds": child.rootUserIds,
        "whoami": child_client.get_whoami().model_dump(),
        "verified": verified(child_signed, "signed in the child", child_address),
    }

    outsider_public, outsider_private = key_pair()
    alice.create_users(CreateUsersBody(users=[{**api_key_user("outsider", outsider_public), "userTags": []}]))

    # A deleted voter must still appear in a format that this client can parse.
    leaver_public, leaver_private = key_pair()
    leavers = [{**api_key_user("leaver", leaver_public), "userTags": []}]
    leaver_id = alice.create_users(CreateUsersBody(users=leavers)).userIds[0]
    own_key = {"apiKeyName": "second", "publicKey": key_pair()[0], "curveType": "API_KEY_CURVE_P256"}
    own_keys = CreateApiKeysBody(userId=leaver_id, apiKeys=[own_key])
    voted = client(leaver_public, leaver_private).create_api_keys(own_keys).activity
    alice.delete_users(DeleteUsersBody(userIds=[leaver_id]))
    kept = alice.get_activity(GetActivityBody(activityId=voted.id)).activity
    seen["voterWhoLeft"] = {"voted": kept.votes[0].userId, "left": leaver_id}

    alice.update_root_quorum(UpdateRootQuorumBody(threshold=2, userIds=[FIRST["userId"], SECOND["userId"]]))
    seen["pending"] = failure(lambda: alice.sign_raw_payload(payload(public_key, "signed by two")))
    pending = alice.get_activity(GetActivityBody(activityId=seen["pending"]["activityId"])).activity
    approved = bob.approve_activity(ApproveActivityBody(fingerprint=pending.fingerprint)).activity
    fetched = alice.get_activity(GetActivityBody(activityId=pending.id)).activity
    seen["pendingFetched"] = {"id": pending.id, "status": pending.status.value, "votes": len(pending.votes)}
    for name, activity in (("approved", approved), ("fetched", fetched)):
        seen[name] = {
            "id": activity.id,
            "status": activity.status.value,
            "verified": verified(activity.result.signRawPayloadResult, "signed by two", public_key),
        }

    seen["unknownKey"] = failure(client(*key_pair()).get_whoami)
    seen["unknownSigner"] = failure(lambda: child_client.sign_raw_payload(payload("0x" + "00" * 20, "text")))
    outsider = client(outsider_public, outsider_private)
    seen["denied"] = failure(lambda: outsider.create_wallet(CreateWalletBody(walletName="denied", accounts=accounts)))

    json.dump(seen, sys.stdout)


main()
