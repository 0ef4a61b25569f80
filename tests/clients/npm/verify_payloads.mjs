// Payloads: typed data and authorizations, compared with the hashes of viem and ethers, and bytes and texts with every
// hash function.

import { TypedDataEncoder, hashAuthorization as hashForEthers } from "ethers";
import { hashTypedData, recoverAddress, serializeTypedData } from "viem";
import { hashAuthorization } from "viem/utils";
import { ed25519 } from "@noble/curves/ed25519";
import { p256 } from "@noble/curves/p256";
import { secp256k1 } from "@noble/curves/secp256k1";
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import { address, typedData } from "./typed_data.mjs";
import { privateKey, same, signRaw, verify, wallet } from "./verifier.mjs";

const [ethereum] = await wallet("payloads", [["SECP256K1", "m/44'/60'/0'/0/0", "ETHEREUM"]]);
const keys = {
  secp256k1: await privateKey("secp256k1", "SECP256K1", ["COMPRESSED"]),
  p256: await privateKey("p256", "P256", ["COMPRESSED"]),
  ed25519: await privateKey("ed25519", "ED25519", ["SOLANA"]),
};

async function recovers(hash, { r, s, v }) {
  same(["00", "01"].includes(v), true, "v is 0 or 1");
  const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) };
  same(await recoverAddress({ hash, signature }), ethereum.address, "the signer for viem");
  same(new secp256k1.Signature(BigInt(`0x${r}`), BigInt(`0x${s}`)).hasHighS(), false, "s is in the upper half");
}

async function typed(random, details) {
  const data = typedData(random);
  const { EIP712Domain, ...types } = data.types;
  const maker = random.pick(["viem", "ethers"]);
  // ethers infers the signed type, and writes numbers of the domain in hex.
  const ofEthers = () => JSON.stringify(TypedDataEncoder.getPayload(data.domain, types, data.message));
  details.unsigned = maker === "viem" ? serializeTypedData(data) : ofEthers();
  const hash = hashTypedData(data);
  same(TypedDataEncoder.hash(data.domain, types, data.message), hash, "both libraries compute the same hash");
  const signature = await signRaw(ethereum.address, details.unsigned, "EIP712", "NO_OP");
  await recovers(hash, signature);
  return ["typed data", maker];
}

async function authorization(random, details) {
  const safe = (bits) => Number(random.edge(bits) & ((1n << 53n) - 1n));
  const fields = { address: address(random), chainId: safe(53), nonce: safe(53) };
  details.unsigned = JSON.stringify(fields);
  const hash = hashAuthorization(fields);
  same(hashForEthers(fields), hash, "both libraries compute the same hash");
  await recovers(hash, await signRaw(ethereum.address, details.unsigned, "EIP7702_AUTHORIZATION", "NO_OP"));
  return "authorization";
}

const HASHES = { SHA256: sha256, KECCAK256: keccak_256, NO_OP: (bytes) => bytes, NOT_APPLICABLE: (bytes) => bytes };
const CURVES = { secp256k1, p256 };

function message(random, hash) {
  if (hash === "NO_OP") return { encoding: "HEXADECIMAL", bytes: random.bytes(32) };
  const encoding = random.pick(["HEXADECIMAL", "TEXT_UTF8"]);
  const text = random.pick(["", "hello", "0xab", "Grüße ☂ 🦀", '"\\\n']) + random.hex(random.below(200));
  return encoding === "TEXT_UTF8" ? { encoding, text, bytes: utf8ToBytes(text) } : { encoding, bytes: random.bytes(random.below(300)) };
}

function hexadecimal(random, bytes) {
  const digits = bytesToHex(bytes);
  return (random.once(3) ? "0x" : "") + (random.once(3) ? digits.toUpperCase() : digits);
}

async function raw(random, details) {
  const curve = random.pick(Object.keys(keys));
  const hash = curve === "ed25519" ? "NOT_APPLICABLE" : random.pick(["SHA256", "KECCAK256", "NO_OP"]);
  const { encoding, text, bytes } = message(random, hash);
  const { id, publicKey, addresses } = keys[curve];
  details.unsigned = text ?? hexadecimal(random, bytes);
  const { r, s, v } = await signRaw(random.pick([id, publicKey, addresses[0]]), details.unsigned, encoding, hash);
  const digest = HASHES[hash](bytes);
  if (curve === "ed25519") {
    same(v, "00", "v");
    same(ed25519.verify(r + s, digest, publicKey, { zip215: false }), true, "the signature verifies");
    return [curve, hash];
  }
  const { ProjectivePoint, Signature, verify: verifies } = CURVES[curve];
  const signature = Signature.fromCompact(r + s);
  same(verifies(signature, digest, publicKey, { lowS: curve === "secp256k1" }), true, "the signature verifies");
  const point = signature.addRecoveryBit(Number(v)).recoverPublicKey(digest);
  same(point.equals(ProjectivePoint.fromHex(hexToBytes(publicKey))), true, "v recovers the key");
  return [curve, hash];
}

await verify(async (random, _, details) => {
  details.what = random.pick(["typed", "typed", "typed", "authorization", "raw"]);
  return { typed, authorization, raw }[details.what](random, details);
});
