// PSBTs with inputs of every kind, made by bitcoinjs-lib: those of the account, of other people, and several at once.

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
// The name of a key, its network, and the kinds of inputs that belong to it by this name.
const addressed = [
  ...accounts.map(({ address, publicKey }, index) => {
    const [name, kind] = all[index];
    return { signWith: address, network: NETWORKS[name], kinds: [kind], point: bytes(publicKey) };
  }),
  ...key.addresses.map((address, index) => ({ ...mainnet, signWith: address, kinds: [KINDS[index]] })),
];
const bare = [key.id, key.publicKey].map((signWith) => ({ ...mainnet, signWith }));

const value = (chance) => BigInt(chance.between(1_000, 2 ** 40));
const secret = (chance) => chance.bytes(32).map((byte, index) => (index === 0 ? byte >> 1 : byte));
const stranger = (chance) => secp256k1.getPublicKey(secret(chance), true);
// Somebody who can sign.
const cosigner = (chance) => {
  const own = secret(chance);
  return { publicKey: ecc.pointFromScalar(own, true), sign: (digest) => ecc.sign(digest, own) };
};
const single = (point) => script.compile([point, opcodes.OP_CHECKSIG]);
const several = (points) => payments.p2ms({ m: 2, pubkeys: points }).output;

// The output that an input of this kind spends, and the scripts that go with it.
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

// A transaction that pays to this script, among others.
function previous(chance, output, amount) {
  const made = new Transaction();
  made.version = chance.pick([1, 2]);
  made.locktime = chance.below(1000);
  for (let left = chance.between(1, 3); left > 0; left--) made.addInput(chance.bytes(32), chance.below(5), 0xffffffff, chance.bytes(chance.below(80)));
  const before = chance.list(0, 3, () => spent(chance.pick(KINDS), networks.bitcoin, stranger(chance)).output);
  for (const each of before) made.addOutput(each, value(chance));
  made.addOutput(output, amount);
  if (chance.once(2)) made.addOutput(spent("P2WPKH", networks.bitcoin, stranger(chance)).output, value(chance));
  if (chance.once(3)) made.setWitness(0, [chance.bytes(70), chance.bytes(33)]);
  return { hash: made.getId(), index: before.length, whole: made.toBuffer() };
}

// Returns the transaction whose output is spent.
function addInput(chance, psbt, { kind, network, point, inner }) {
  const amount = value(chance);
  const { output, redeemScript, witnessScript } = spent(kind, network, point, inner);
  const { hash, index, whole } = previous(chance, output, amount);
  const hasWitness = kind !== "P2PKH" && kind !== "P2SH";
  psbt.addInput({
    hash,
    index,
    sequence: chance.pick([0, 0xfffffffd, 0xfffffffe, 0xffffffff]),
    ...(hasWitness ? { witnessUtxo: { script: output, value: amount } } : { nonWitnessUtxo: whole }),
    ...(redeemScript ? { redeemScript } : {}),
    ...(witnessScript ? { witnessScript } : {}),
    ...(kind === "P2TR" && chance.once(2) ? { tapInternalKey: point.subarray(1) } : {}),
    ...(chance.once(3) && kind !== "P2TR" ? { sighashType: Transaction.SIGHASH_ALL } : {}),
    ...(chance.once(3) && kind !== "P2TR"
      ? { bip32Derivation: [{ masterFingerprint: chance.bytes(4), path: `m/44'/0'/${chance.below(9)}'/0/1`, pubkey: point }] }
      : {}),
    ...(chance.once(5) ? { unknownKeyVals: [{ key: Uint8Array.of(0xf0, ...chance.bytes(3)), value: chance.bytes(5) }] } : {}),
  });
  const added = psbt.data.inputs.at(-1);
  // The library writes this one, and does not take it.
  if (kind === "P2TR" && chance.once(3)) added.sighashType = Transaction.SIGHASH_DEFAULT;
  return whole;
}

// With an input of Taproot all others have witnesses, since its digest is over what all of them spend.
const beside = (kinds) => (kinds.includes("P2TR") ? ["P2WPKH", "P2WSH", "P2TR"] : KINDS);

function ownInputs(chance, { kinds, network, point }) {
  const wanted = chance.list(1, 4, () => chance.pick(kinds));
  const allowed = beside(wanted);
  return wanted.filter((kind) => allowed.includes(kind)).map((kind) => {
    const shared = (kind === "P2SH" || kind === "P2WSH") && chance.once(3);
    const other = cosigner(chance);
    const points = [other.publicKey, stranger(chance)];
    points.splice(chance.below(3), 0, point);
    return { own: true, kind, network, point, ...(shared ? { inner: several(points), shared, other } : {}) };
  });
}

function shuffled(chance, list) {
  const left = [...list];
  return list.map(() => left.splice(chance.below(left.length), 1)[0]);
}

function draw(chance, signer) {
  const own = ownInputs(chance, signer);
  const allowed = beside(own.map((each) => each.kind));
  const foreign = chance.list(0, 3, () => {
    const other = cosigner(chance);
    return { kind: chance.pick(allowed), network: signer.network, point: other.publicKey, other };
  });
  const inputs = shuffled(chance, [...own, ...foreign]);
  const psbt = new Psbt({ network: signer.network });
  psbt.setVersion(chance.pick([1, 2]));
  psbt.setLocktime(chance.pick([0, 800_000, 1_700_000_000]));
  for (const each of inputs) each.whole = addInput(chance, psbt, each);
  const outputs = chance.list(1, 4, () => spent(chance.pick(KINDS), signer.network, stranger(chance)).output);
  for (const each of outputs) psbt.addOutput({ script: each, value: BigInt(chance.between(0, 1_000)) });
  if (chance.once(4)) psbt.addOutput({ script: payments.embed({ data: [chance.bytes(chance.between(1, 75))] }).output, value: 0n });
  for (const [index, { kind, other }] of inputs.entries()) {
    if (other && kind !== "P2TR" && chance.once(2)) psbt.signInput(index, other);
  }
  return { psbt, inputs };
}

// What must not be signed, by the kinds of inputs that it can be wrong with.
const FAULTS = {
  sighash: [KINDS, (chance, input) => (input.sighashType = chance.pick([2, 3, 0x81, 0x82, 0x83]))],
  "both previous outputs": [["P2WPKH", "P2WSH", "P2TR"], (_, input, { whole }) => (input.nonWitnessUtxo = whole)],
  "no previous output": [["P2PKH", "P2SH"], (_, input) => delete input.nonWitnessUtxo],
  "other previous transaction": [
    ["P2PKH", "P2SH"],
    (chance, input, { kind, point }) => (input.nonWitnessUtxo = previous(chance, spent(kind, networks.bitcoin, point).output, 1n).whole),
  ],
  "no redeem script": [["P2SH"], (_, input) => delete input.redeemScript],
  "no witness script": [["P2WSH"], (_, input) => delete input.witnessScript],
  "other witness script": [["P2WSH"], (chance, input) => (input.witnessScript = single(stranger(chance)))],
  "script tree": [["P2TR"], (chance, input) => (input.tapMerkleRoot = chance.bytes(32))],
};

// A PSBT with one fault, or for a key that it does not ask for.
function faulty(chance, psbt, inputs, signer, told) {
  const { signWith } = signer;
  if (chance.once(5)) return [signWith, chance.pick(Object.values(SPOILED))(psbt.toHex())];
  if (chance.once(5)) return [chance.pick(addressed.filter((each) => hex(each.point) !== hex(signer.point))).signWith, psbt.toHex()];
  // Where one input alone belongs to the key, it can not be passed over.
  const own = inputs.findIndex((each) => each.own);
  const fitting = Object.keys(FAULTS).filter((name) => FAULTS[name][0].includes(inputs[own].kind));
  told.fault = chance.pick(fitting);
  // The library's own members can not be taken away, so this is a plain copy.
  psbt.data.inputs[own] = { ...psbt.data.inputs[own] };
  FAULTS[told.fault][1](chance, psbt.data.inputs[own], inputs[own]);
  return [signWith, psbt.toHex()];
}

function validates(point, digest, signature) {
  if (point.length === 32) return ecc.verifySchnorr(digest, point, signature);
  const parsed = secp256k1.Signature.fromCompact(signature);
  return ecc.verify(digest, point, signature, true) && !parsed.hasHighS();
}

// What was signed by this key alone is what the network takes.
function complete(psbt, inputs) {
  if (!inputs.every((each) => each.own && !each.shared)) return;
  const asked = psbt.data.getTransaction();
  psbt.finalizeAllInputs();
  const made = psbt.extractTransaction(true);
  for (const input of made.ins) input.script = new Uint8Array();
  same(hex(made.__toBuffer(undefined, undefined, false)), hex(asked), "the transaction without its signatures");
}

// Asserts that this input was signed by this key once, and takes the signature away.
function judgeOwn(after, rest, index, { kind, point }) {
  const name = `input ${index} of ${kind}`;
  const { partialSig = [], tapKeySig } = after.data.inputs[index];
  const isOwn = (each) => hex(each.pubkey) === hex(point);
  same(partialSig.filter(isOwn).length, kind === "P2TR" ? 0 : 1, `signatures of ${name}`);
  same(tapKeySig?.length, kind === "P2TR" ? 64 : undefined, `bytes of the Taproot signature of ${name}`);
  // Without this member the library does not look for a signature.
  if (kind === "P2TR") after.data.inputs[index].tapInternalKey ??= point.subarray(1);
  same(after.validateSignaturesOfInput(index, validates), true, `the signature of ${name}`);
  const input = rest.data.inputs[index];
  input.partialSig = partialSig.filter((each) => !isOwn(each));
  if (input.partialSig.length === 0) delete input.partialSig;
  delete input.tapKeySig;
}

function judge(unsigned, signed, inputs, { network }) {
  const after = Psbt.fromHex(signed, { network });
  same(after.toHex(), signed, "bitcoinjs-lib writes what was signed as it is");
  const rest = Psbt.fromHex(signed, { network });
  for (const [index, input] of inputs.entries()) {
    const { finalScriptSig, finalScriptWitness } = after.data.inputs[index];
    same([finalScriptSig, finalScriptWitness], [undefined, undefined], `input ${index} is not finalised`);
    if (input.own) judgeOwn(after, rest, index, input);
  }
  same(rest.toHex(), unsigned, "nothing but the signatures is new");
  complete(after, inputs);
}

await verify(async (chance, _, told) => {
  const signer = chance.pick(chance.once(4) ? bare : addressed);
  const { psbt, inputs } = draw(chance, signer);
  const unsigned = psbt.toHex();
  const own = inputs.filter((each) => each.own);
  Object.assign(told, { signWith: signer.signWith, inputs: inputs.map((each) => `${each.own ? "own" : "foreign"} ${each.kind}`), unsigned });
  if (chance.once(4) && own.length === 1) {
    const [signWith, bytes] = faulty(chance, psbt, inputs, signer, told);
    told.unsigned = bytes;
    return refused(() => sign("BITCOIN", signWith, bytes));
  }
  const signed = await sign("BITCOIN", signer.signWith, unsigned);
  told.signed = signed;
  judge(unsigned, signed, inputs, signer);
  const kinds = new Set(own.map((each) => each.kind));
  const shapes = {
    mixed: kinds.size > 1,
    foreign: inputs.length > own.length,
    shared: own.some((each) => each.shared),
    "several inputs": own.length > 1,
  };
  return [...kinds, ...Object.keys(shapes).filter((each) => shapes[each])];
});
