// Attested stamps: a key that is registered nowhere signs, and a token attests whose key it is.

import { p256 } from "@noble/curves/p256";
import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import { credentials } from "./watch.mjs";

export const BY_IDENTITY = "STAMP_ATTESTED_SCHEME_P256_OIDC";
export const BY_CODE = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN";

// The nonce of an ID token is the digest of the text of a public key.
export const nonceOf = (publicKey) => bytesToHex(sha256(utf8ToBytes(publicKey)));

export async function attested(key, scheme, token, path, body) {
  const text = JSON.stringify(body);
  const signature = p256.sign(sha256(utf8ToBytes(text)), hexToBytes(key.privateKey)).toDERHex();
  const stamp = { publicKeyAttestation: token, scheme, publicKey: key.publicKey, signature };
  const headers = { "X-Stamp-Attested": Buffer.from(JSON.stringify(stamp)).toString("base64url") };
  const answer = await fetch(`${credentials.baseUrl}/public/v1/${path}`, { method: "POST", body: text, headers });
  return answer.json();
}
