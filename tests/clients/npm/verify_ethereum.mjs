// Ethereum transactions of every type, created by viem and ethers in turn. Both decode each transaction and recover its
// signer.

import { Signature, Transaction, authorizationify, getAddress } from "ethers";
import { hexToBytes, keccak256, parseTransaction, recoverTransactionAddress, serializeTransaction } from "viem";
import { hashAuthorization } from "viem/utils";
import { secp256k1 } from "@noble/curves/secp256k1";
import { SPOILED, privateKey, refused, same, sign, verify, wallet } from "./verifier.mjs";

const [first, second] = await wallet(
  "ethereum",
  [0, 1].map((index) => ["SECP256K1", `m/44'/60'/${index}'/0/0`, "ETHEREUM"]),
);
const key = await privateKey("ethereum", "SECP256K1", ["ETHEREUM"]);
// Each identifier of a key, and its address.
const signers = [
  [first.address, first.address],
  [second.address, second.address],
  [first.publicKey, first.address],
  [key.id, key.addresses[0]],
  [key.publicKey, key.addresses[0]],
  [key.addresses[0], key.addresses[0]],
];

const prefixed = (random, length) => `0x${random.hex(length)}`;
const address = (random) => getAddress(random.once(10) ? `0x${"00".repeat(20)}` : prefixed(random, 20));
// The largest safe integer of JavaScript.
const SAFE = (1n << 53n) - 1n;
const safe = (random, bits) => Number(random.edge(bits) & SAFE);
// The largest chain id of EIP-2294, for which v still has 64 bits.
const LAST_CHAIN = (1n << 63n) - 37n;

function data(random) {
  const sizes = [0, 0, 1, 4, 55, 56, 68, 255, 256, 1000];
  return prefixed(random, random.once(50) ? 24_000 : random.pick(sizes));
}

const accessList = (random) =>
  random.list(0, 3, () => ({ address: address(random), storageKeys: random.list(0, 3, () => prefixed(random, 32)) }));

function authorization(random) {
  const fields = { chainId: safe(random, 40), address: address(random), nonce: safe(random, 53) };
  const signature = secp256k1.sign(hashAuthorization(fields).slice(2), random.bytes(32));
  const wide = (number) => `0x${number.toString(16).padStart(64, "0")}`;
  return { ...fields, r: wide(signature.r), s: wide(signature.s), yParity: signature.recovery };
}

// Returns the members of a transaction with the names of viem.
function members(random, type) {
  const priced = type === "old" || type === "legacy" || type === "eip2930";
  const most = random.edge(128);
  const creates = random.once(5) && type !== "eip4844" && type !== "eip7702";
  return {
    type: type === "old" ? "legacy" : type,
    ...(type === "old" ? {} : { chainId: Math.max(1, safe(random, 53)) }),
    nonce: safe(random, 53),
    gas: random.edge(64),
    to: creates ? undefined : address(random),
    value: random.edge(256),
    data: data(random),
    ...(priced ? { gasPrice: random.edge(128) } : { maxFeePerGas: most, maxPriorityFeePerGas: most === 0n ? 0n : random.number(128) % most }),
    ...(type === "old" || type === "legacy" ? {} : { accessList: accessList(random) }),
    ...(type === "eip4844"
      ? { maxFeePerBlobGas: random.edge(128), blobVersionedHashes: random.list(1, 6, () => `0x01${random.hex(31)}`), sidecars: false }
      : {}),
    ...(type === "eip7702" ? { authorizationList: random.list(1, 3, () => authorization(random)) } : {}),
  };
}

const NUMBERS = { old: 0, legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 };

// Converts the members to a transaction of ethers.
function ofEthers(type, { gas, sidecars, authorizationList, to, type: _, ...same }) {
  return Transaction.from({
    ...same,
    type: NUMBERS[type],
    to: to ?? null,
    gasLimit: gas,
    ...(authorizationList
      ? {
          authorizationList: authorizationList.map(({ r, s, yParity, ...fields }) =>
            authorizationify({ ...fields, signature: Signature.from({ r, s, yParity }) }),
          ),
        }
      : {}),
  });
}

// Returns what viem decodes, without the signature.
function read(bytes) {
  const { r, s, v, yParity, ...fields } = parseTransaction(bytes);
  return fields;
}

async function check(unsigned, signed, signer) {
  const again = Transaction.from(signed);
  same(again.serialized, signed, "ethers serializes the signed transaction unchanged");
  same(again.unsignedSerialized, unsigned, "nothing but the signature is new");
  same(again.from, signer, "the sender for ethers");
  same(again.hash, keccak256(signed), "the hash for ethers");
  if (again.chainId <= SAFE) {
    same(read(signed), read(unsigned), "the members for viem");
    same(await recoverTransactionAddress({ serializedTransaction: signed }), signer, "the sender for viem");
  }
  const { r, s } = again.signature;
  const signature = new secp256k1.Signature(BigInt(r), BigInt(s));
  same(signature.hasHighS(), false, "s is in the upper half");
  const point = signature.addRecoveryBit(again.signature.yParity).recoverPublicKey(hexToBytes(keccak256(unsigned)));
  same(secp256k1.verify(signature, hexToBytes(keccak256(unsigned)), point.toBytes()), true, "the signature verifies");
}

// Checks that neither the network format with sidecars nor a signed transaction is signed.
async function spoiled(random, fields, unsigned, signWith) {
  const sidecars = fields.sidecars === undefined ? undefined : [{ blob: "0x00", commitment: prefixed(random, 48), proof: prefixed(random, 48) }];
  const build = random.pick([
    ...Object.values(SPOILED).map((spoil) => async () => spoil(unsigned)),
    () => sign("ETHEREUM", signWith, unsigned),
    ...(sidecars ? [async () => serializeTransaction({ ...fields, sidecars })] : []),
  ]);
  const bytes = await build();
  return refused(() => sign("ETHEREUM", signWith, bytes));
}

await verify(async (random, index, details) => {
  const type = random.pick(Object.keys(NUMBERS));
  const maker = index % 2 === 0 ? "viem" : "ethers";
  const fields = members(random, type);
  if (fields.chainId && maker === "ethers" && random.once(10)) fields.chainId = LAST_CHAIN - random.number(62);
  const [signWith, signer] = random.pick(signers);
  const unsigned = maker === "viem" ? serializeTransaction(fields) : ofEthers(type, fields).unsignedSerialized;
  Object.assign(details, { type, maker, signWith, unsigned });
  if (random.once(20)) return spoiled(random, fields, unsigned, signWith);
  const signed = `0x${await sign("ETHEREUM", signWith, random.once(2) ? unsigned : unsigned.slice(2))}`;
  details.signed = signed;
  await check(unsigned, signed, signer);
  return [type, maker, ...(fields.to ? [] : ["creation"])];
});
