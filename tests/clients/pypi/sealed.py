"""Encrypts codes and decrypts credential bundles: HPKE (RFC 9180) in base mode with DHKEM(P-256, HKDF-SHA256),
HKDF-SHA256 and AES-256-GCM, as the clients of other languages use it. The module of cryptography accepts no
additional data, which these clients authenticate.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

INFO = b"turnkey_hpke"
KEM = b"KEM" + bytes.fromhex("0010")
SUITE = b"HPKE" + bytes.fromhex("001000010002")
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def point(public_key):
    return public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def public_key(encoded):
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), encoded)


def extract(suite, salt, label, key):
    return hmac.digest(salt, b"HPKE-v1" + suite + label + key, "sha256")


def expand(suite, key, label, info, length):
    info = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return HKDFExpand(hashes.SHA256(), length, info).derive(key)


def schedule(shared, encapped, receiver):
    """Returns the cipher, and the nonce and the additional data of the only message."""
    context = encapped + receiver
    secret = expand(KEM, extract(KEM, b"", b"eae_prk", shared), b"shared_secret", context, 32)
    key_context = b"\0" + extract(SUITE, b"", b"psk_id_hash", b"") + extract(SUITE, b"", b"info_hash", INFO)
    secret = extract(SUITE, secret, b"secret", b"")
    key = expand(SUITE, secret, b"key", key_context, 32)
    return AESGCM(key), expand(SUITE, secret, b"base_nonce", key_context, 12), context


def seal(receiver, plaintext):
    """Returns the encapsulated key and the ciphertext."""
    sender = ec.generate_private_key(ec.SECP256R1())
    encapped = point(sender.public_key())
    shared = sender.exchange(ec.ECDH(), public_key(receiver))
    cipher, nonce, context = schedule(shared, encapped, receiver)
    return encapped, cipher.encrypt(nonce, plaintext, context)


def open_bundle(receiver, bundle):
    """Returns the secret in a credential bundle: Base58Check of the compressed encapsulated key and the ciphertext."""
    number = 0
    for digit in bundle:
        number = 58 * number + ALPHABET.index(digit)
    decoded = number.to_bytes((number.bit_length() + 7) // 8, "big")
    data, check = decoded[:-4], decoded[-4:]
    if hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4] != check:
        raise ValueError("the checksum of the bundle is wrong")
    sender = public_key(data[:33])
    shared = receiver.exchange(ec.ECDH(), sender)
    cipher, nonce, context = schedule(shared, point(sender), point(receiver.public_key()))
    return cipher.decrypt(nonce, data[33:], context)
