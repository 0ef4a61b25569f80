// Transactions of Ethereum of every type, made by viem and by ethers in turn; each is read and its signer recovered
// by both.

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
// Each name that a key has, and the address that belongs to it.
const signers = [
  [first.address, first.address],
  [second.address, second.address],
  [first.publicKey, first.address],
  [key.id, key.addresses[0]],
  [key.publicKey, key.addresses[0]],
  [key.addresses[0], key.addresses[0]],
];

const prefixed = (chance, length) => `0x${chance.hex(length)}`;
const address = (chance) => getAddress(chance.once(10) ? `0x${"00".repeat(20)}` : prefixed(chance, 20));
// The most that a number of JavaScript counts.
const SAFE = (1n << 53n) - 1n;
const safe = (chance, bits) => Number(chance.edge(bits) & SAFE);
// The highest chain of EIP-2294, for which v still has 64 bits.
const LAST_CHAIN = (1n << 63n) - 37n;

function data(chance) {
  const sizes = [0, 0, 1, 4, 55, 56, 68, 255, 256, 1000];
  return prefixed(chance, chance.once(50) ? 24_000 : chance.pick(sizes));
}

const accessList = (chance) =>
  chance.list(0, 3, () => ({ address: address(chance), storageKeys: chance.list(0, 3, () => prefixed(chance, 32)) }));

function authorization(chance) {
  const said = { chainId: safe(chance, 40), address: address(chance), nonce: safe(chance, 53) };
  const signature = secp256k1.sign(hashAuthorization(said).slice(2), chance.bytes(32));
  const wide = (number) => `0x${number.toString(16).padStart(64, "0")}`;
  return { ...said, r: wide(signature.r), s: wide(signature.s), yParity: signature.recovery };
}

// The members of a transaction, in the words of viem.
function members(chance, type) {
  const priced = type === "old" || type === "legacy" || type === "eip2930";
  const most = chance.edge(128);
  const creates = chance.once(5) && type !== "eip4844" && type !== "eip7702";
  return {
    type: type === "old" ? "legacy" : type,
    ...(type === "old" ? {} : { chainId: Math.max(1, safe(chance, 53)) }),
    nonce: safe(chance, 53),
    gas: chance.edge(64),
    to: creates ? undefined : address(chance),
    value: chance.edge(256),
    data: data(chance),
    ...(priced ? { gasPrice: chance.edge(128) } : { maxFeePerGas: most, maxPriorityFeePerGas: most === 0n ? 0n : chance.number(128) % most }),
    ...(type === "old" || type === "legacy" ? {} : { accessList: accessList(chance) }),
    ...(type === "eip4844"
      ? { maxFeePerBlobGas: chance.edge(128), blobVersionedHashes: chance.list(1, 6, () => `0x01${chance.hex(31)}`), sidecars: false }
      : {}),
    ...(type === "eip7702" ? { authorizationList: chance.list(1, 3, () => authorization(chance)) } : {}),
  };
}

const NUMBERS = { old: 0, legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 };

// The same in the words of ethers.
function ofEthers(type, { gas, sidecars, authorizationList, to, type: _, ...same }) {
  return Transaction.from({
    ...same,
    type: NUMBERS[type],
    to: to ?? null,
    gasLimit: gas,
    ...(authorizationList
      ? {
          authorizationList: authorizationList.map(({ r, s, yParity, ...said }) =>
            authorizationify({ ...said, signature: Signature.from({ r, s, yParity }) }),
          ),
        }
      : {}),
  });
}

// What viem reads, without the signature.
function read(bytes) {
  const { r, s, v, yParity, ...said } = parseTransaction(bytes);
  return said;
}

async function judge(unsigned, signed, signer) {
  const again = Transaction.from(signed);
  same(again.serialized, signed, "ethers writes what was signed as it is");
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

// What goes through the network is more than what is signed, and what is signed is not signed again.
async function spoiled(chance, said, unsigned, signWith) {
  const sidecars = said.sidecars === undefined ? undefined : [{ blob: "0x00", commitment: prefixed(chance, 48), proof: prefixed(chance, 48) }];
  const made = chance.pick([
    ...Object.values(SPOILED).map((spoil) => async () => spoil(unsigned)),
    () => sign("ETHEREUM", signWith, unsigned),
    ...(sidecars ? [async () => serializeTransaction({ ...said, sidecars })] : []),
  ]);
  const bytes = await made();
  return refused(() => sign("ETHEREUM", signWith, bytes));
}

await verify(async (chance, index, told) => {
  const type = chance.pick(Object.keys(NUMBERS));
  const maker = index % 2 === 0 ? "viem" : "ethers";
  const said = members(chance, type);
  if (said.chainId && maker === "ethers" && chance.once(10)) said.chainId = LAST_CHAIN - chance.number(62);
  const [signWith, signer] = chance.pick(signers);
  const unsigned = maker === "viem" ? serializeTransaction(said) : ofEthers(type, said).unsignedSerialized;
  Object.assign(told, { type, maker, signWith, unsigned });
  if (chance.once(20)) return spoiled(chance, said, unsigned, signWith);
  const signed = `0x${await sign("ETHEREUM", signWith, chance.once(2) ? unsigned : unsigned.slice(2))}`;
  told.signed = signed;
  await judge(unsigned, signed, signer);
  return [type, maker, ...(said.to ? [] : ["creation"])];
});
