// PSBTs by bitcoinjs-lib with inputs of every kind: of the account, of other keys, and several at once.

import * as ecc from "tiny-secp256k1";
import { Psbt, Transaction, initEccLib, networks, payments, script, opcodes } from "bitcoinjs-lib";
import { secp256k1 } from "@noble/curves/secp256k1";
import { SPOILED, privateKey, refused, same, sign, verify, wallet } from "./verifier.mjs";

initEccLib(ecc);
const KINDS = ["P2PKH", "P2SH", "P2WPKH", "P2WSH", "P2TR"];
const NETWORKS = { MAINNET: networks.bitcoin, TESTNET: networks.testnet, SIGNET: networks.testnet, REGTEST: networks.regtest };
const PURPOSE = { P2PKH: 44, P2SH: 49, P2WPKH: 84, P2WSH: 48, P2TR: 86 };
const all = Object.keys(NETWORKS).flatMap((name) => KINDS.map((kind) => [name, kind]));

const accounts = await wallet(
  "bitcoin",
  all.map(([name, kind]) => ["SECP256K1", `m/${PURPOSE[kind]}'/${name === "MAINNET" ? 0 : 1}'/0'/0/0`, `BITCOIN_${name}_${kind}`]),
);
const key = await privateKey("bitcoin", "SECP256K1", KINDS.map((kind) => `BITCOIN_MAINNET_${kind}`));
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (some) => Buffer.from(some).toString("hex");
const mainnet = { network: networks.bitcoin, kinds: KINDS, point: bytes(key.publicKey) };
// Identifiers of keys, with the network and the kinds of inputs that belong to the key by this identifier.
const addressed = [
  ...accounts.map(({ address, publicKey }, index) => {
    const [name, kind] = all[index];
    return { signWith: address, network: NETWORKS[name], kinds: [kind], point: bytes(publicKey) };
  }),
  ...key.addresses.map((address, index) => ({ ...mainnet, signWith: address, kinds: [KINDS[index]] })),
];
const bare = [key.id, key.publicKey].map((signWith) => ({ ...mainnet, signWith }));

const value = (random) => BigInt(random.between(1_000, 2 ** 40));
const secret = (random) => random.bytes(32).map((byte, index) => (index === 0 ? byte >> 1 : byte));
const otherKey = (random) => secp256k1.getPublicKey(secret(random), true);
// Returns another key that can sign.
const cosigner = (random) => {
  const own = secret(random);
  return { publicKey: ecc.pointFromScalar(own, true), sign: (digest) => ecc.sign(digest, own) };
};
const single = (point) => script.compile([point, opcodes.OP_CHECKSIG]);
const several = (points) => payments.p2ms({ m: 2, pubkeys: points }).output;

// Returns the output that an input of this kind spends, and the scripts of the input.
function spent(kind, network, point, inner = single(point)) {
  const redeem = { output: inner, network };
  switch (kind) {
    case "P2PKH":
      return { ...payments.p2pkh({ pubkey: point, network }) };
    case "P2SH":
      return { ...payments.p2sh({ redeem, network }), redeemScript: inner };
    case "P2WPKH":
      return { ...payments.p2wpkh({ pubkey: point, network }) };
    case "P2WSH":
      return { ...payments.p2wsh({ redeem, network }), witnessScript: inner };
    default:
      return { ...payments.p2tr({ internalPubkey: point.subarray(1), network }) };
  }
}

// Returns a transaction that pays to this script, among others.
function previous(random, output, amount) {
  const transaction = new Transaction();
  transaction.version = random.pick([1, 2]);
  transaction.locktime = random.below(1000);
  for (let left = random.between(1, 3); left > 0; left--) transaction.addInput(random.bytes(32), random.below(5), 0xffffffff, random.bytes(random.below(80)));
  const before = random.list(0, 3, () => spent(random.pick(KINDS), networks.bitcoin, otherKey(random)).output);
  for (const each of before) transaction.addOutput(each, value(random));
  transaction.addOutput(output, amount);
  if (random.once(2)) transaction.addOutput(spent("P2WPKH", networks.bitcoin, otherKey(random)).output, value(random));
  if (random.once(3)) transaction.setWitness(0, [random.bytes(70), random.bytes(33)]);
  return { hash: transaction.getId(), index: before.length, whole: transaction.toBuffer() };
}

// Adds an input, and returns the transaction whose output it spends.
function addInput(random, psbt, { kind, network, point, inner }) {
  const amount = value(random);
  const { output, redeemScript, witnessScript } = spent(kind, network, point, inner);
  const { hash, index, whole } = previous(random, output, amount);
  const hasWitness = kind !== "P2PKH" && kind !== "P2SH";
  psbt.addInput({
    hash,
    index,
    sequence: random.pick([0, 0xfffffffd, 0xfffffffe, 0xffffffff]),
    ...(hasWitness ? { witnessUtxo: { script: output, value: amount } } : { nonWitnessUtxo: whole }),
    ...(redeemScript ? { redeemScript } : {}),
    ...(witnessScript ? { witnessScript } : {}),
    ...(kind === "P2TR" && random.once(2) ? { tapInternalKey: point.subarray(1) } : {}),
    ...(random.once(3) && kind !== "P2TR" ? { sighashType: Transaction.SIGHASH_ALL } : {}),
    ...(random.once(3) && kind !== "P2TR"
      ? { bip32Derivation: [{ masterFingerprint: random.bytes(4), path: `m/44'/0'/${random.below(9)}'/0/1`, pubkey: point }] }
      : {}),
    ...(random.once(5) ? { unknownKeyVals: [{ key: Uint8Array.of(0xf0, ...random.bytes(3)), value: random.bytes(5) }] } : {}),
  });
  const added = psbt.data.inputs.at(-1);
  // The library writes this member, but does not accept it.
  if (kind === "P2TR" && random.once(3)) added.sighashType = Transaction.SIGHASH_DEFAULT;
  return whole;
}

// With a Taproot input all others need witnesses, because its digest covers all spent outputs.
const beside = (kinds) => (kinds.includes("P2TR") ? ["P2WPKH", "P2WSH", "P2TR"] : KINDS);

function ownInputs(random, { kinds, network, point }) {
  const wanted = random.list(1, 4, () => random.pick(kinds));
  const allowed = beside(wanted);
  return wanted.filter((kind) => allowed.includes(kind)).map((kind) => {
    const shared = (kind === "P2SH" || kind === "P2WSH") && random.once(3);
    const other = cosigner(random);
    const points = [other.publicKey, otherKey(random)];
    points.splice(random.below(3), 0, point);
    return { own: true, kind, network, point, ...(shared ? { inner: several(points), shared, other } : {}) };
  });
}

function shuffled(random, list) {
  const left = [...list];
  return list.map(() => left.splice(random.below(left.length), 1)[0]);
}

function draw(random, signer) {
  const own = ownInputs(random, signer);
  const allowed = beside(own.map((each) => each.kind));
  const others = random.list(0, 3, () => {
    const other = cosigner(random);
    return { kind: random.pick(allowed), network: signer.network, point: other.publicKey, other };
  });
  const inputs = shuffled(random, [...own, ...others]);
  const psbt = new Psbt({ network: signer.network });
  psbt.setVersion(random.pick([1, 2]));
  psbt.setLocktime(random.pick([0, 800_000, 1_700_000_000]));
  for (const each of inputs) each.whole = addInput(random, psbt, each);
  const outputs = random.list(1, 4, () => spent(random.pick(KINDS), signer.network, otherKey(random)).output);
  for (const each of outputs) psbt.addOutput({ script: each, value: BigInt(random.between(0, 1_000)) });
  if (random.once(4)) psbt.addOutput({ script: payments.embed({ data: [random.bytes(random.between(1, 75))] }).output, value: 0n });
  for (const [index, { kind, other }] of inputs.entries()) {
    if (other && kind !== "P2TR" && random.once(2)) psbt.signInput(index, other);
  }
  return { psbt, inputs };
}

// Faults that must not be signed, with the kinds of inputs that they apply to.
const FAULTS = {
  sighash: [KINDS, (random, input) => (input.sighashType = random.pick([2, 3, 0x81, 0x82, 0x83]))],
  "both previous outputs": [["P2WPKH", "P2WSH", "P2TR"], (_, input, { whole }) => (input.nonWitnessUtxo = whole)],
  "no previous output": [["P2PKH", "P2SH"], (_, input) => delete input.nonWitnessUtxo],
  "other previous transaction": [
    ["P2PKH", "P2SH"],
    (random, input, { kind, point }) => (input.nonWitnessUtxo = previous(random, spent(kind, networks.bitcoin, point).output, 1n).whole),
  ],
  "no redeem script": [["P2SH"], (_, input) => delete input.redeemScript],
  "no witness script": [["P2WSH"], (_, input) => delete input.witnessScript],
  "other witness script": [["P2WSH"], (random, input) => (input.witnessScript = single(otherKey(random)))],
  "script tree": [["P2TR"], (random, input) => (input.tapMerkleRoot = random.bytes(32))],
};

// Returns a PSBT with one fault, or for a key that signs none of its inputs.
function faulty(random, psbt, inputs, signer, details) {
  const { signWith } = signer;
  if (random.once(5)) return [signWith, random.pick(Object.values(SPOILED))(psbt.toHex())];
  if (random.once(5)) return [random.pick(addressed.filter((each) => hex(each.point) !== hex(signer.point))).signWith, psbt.toHex()];
  // If only one input belongs to the key, the daemon cannot skip it.
  const own = inputs.findIndex((each) => each.own);
  const fitting = Object.keys(FAULTS).filter((name) => FAULTS[name][0].includes(inputs[own].kind));
  details.fault = random.pick(fitting);
  // The library's members cannot be deleted, so this is a plain copy.
  psbt.data.inputs[own] = { ...psbt.data.inputs[own] };
  FAULTS[details.fault][1](random, psbt.data.inputs[own], inputs[own]);
  return [signWith, psbt.toHex()];
}

function validates(point, digest, signature) {
  if (point.length === 32) return ecc.verifySchnorr(digest, point, signature);
  const parsed = secp256k1.Signature.fromCompact(signature);
  return ecc.verify(digest, point, signature, true) && !parsed.hasHighS();
}

// Checks that a transaction signed by this key alone is valid for the network.
function complete(psbt, inputs) {
  if (!inputs.every((each) => each.own && !each.shared)) return;
  const unsigned = psbt.data.getTransaction();
  psbt.finalizeAllInputs();
  const extracted = psbt.extractTransaction(true);
  for (const input of extracted.ins) input.script = new Uint8Array();
  same(hex(extracted.__toBuffer(undefined, undefined, false)), hex(unsigned), "the transaction without its signatures");
}

// Asserts that this key signed the input once, and removes the signature.
function checkOwn(after, rest, index, { kind, point }) {
  const name = `input ${index} of ${kind}`;
  const { partialSig = [], tapKeySig } = after.data.inputs[index];
  const isOwn = (each) => hex(each.pubkey) === hex(point);
  same(partialSig.filter(isOwn).length, kind === "P2TR" ? 0 : 1, `signatures of ${name}`);
  same(tapKeySig?.length, kind === "P2TR" ? 64 : undefined, `bytes of the Taproot signature of ${name}`);
  // Without this member the library does not check the signature.
  if (kind === "P2TR") after.data.inputs[index].tapInternalKey ??= point.subarray(1);
  same(after.validateSignaturesOfInput(index, validates), true, `the signature of ${name}`);
  const input = rest.data.inputs[index];
  input.partialSig = partialSig.filter((each) => !isOwn(each));
  if (input.partialSig.length === 0) delete input.partialSig;
  delete input.tapKeySig;
}

function check(unsigned, signed, inputs, { network }) {
  const after = Psbt.fromHex(signed, { network });
  same(after.toHex(), signed, "bitcoinjs-lib serializes the signed PSBT unchanged");
  const rest = Psbt.fromHex(signed, { network });
  for (const [index, input] of inputs.entries()) {
    const { finalScriptSig, finalScriptWitness } = after.data.inputs[index];
    same([finalScriptSig, finalScriptWitness], [undefined, undefined], `input ${index} is not finalised`);
    if (input.own) checkOwn(after, rest, index, input);
  }
  same(rest.toHex(), unsigned, "nothing but the signatures is new");
  complete(after, inputs);
}

await verify(async (random, _, details) => {
  const signer = random.pick(random.once(4) ? bare : addressed);
  const { psbt, inputs } = draw(random, signer);
  const unsigned = psbt.toHex();
  const own = inputs.filter((each) => each.own);
  Object.assign(details, { signWith: signer.signWith, inputs: inputs.map((each) => `${each.own ? "own" : "other"} ${each.kind}`), unsigned });
  if (random.once(4) && own.length === 1) {
    const [signWith, bytes] = faulty(random, psbt, inputs, signer, details);
    details.unsigned = bytes;
    return refused(() => sign("BITCOIN", signWith, bytes));
  }
  const signed = await sign("BITCOIN", signer.signWith, unsigned);
  details.signed = signed;
  check(unsigned, signed, inputs, signer);
  const kinds = new Set(own.map((each) => each.kind));
  const shapes = {
    mixed: kinds.size > 1,
    "other inputs": inputs.length > own.length,
    shared: own.some((each) => each.shared),
    "several inputs": own.length > 1,
  };
  return [...kinds, ...Object.keys(shapes).filter((each) => shapes[each])];
});
