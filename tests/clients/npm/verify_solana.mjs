// Solana transactions by web3.js, legacy and version 0: with one and several signers, in any order, with tokens, and
// with accounts from lookup tables.

import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  StakeProgram,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import {
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  AuthorityType,
  createApproveCheckedInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnCheckedInstruction,
  createCloseAccountInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
} from "@solana/spl-token";
import { ed25519 } from "@noble/curves/ed25519";
import { SPOILED, privateKey, refused, same, sign, verify, wallet } from "./verifier.mjs";

const [first, second] = await wallet(
  "solana",
  [0, 1].map((index) => ["ED25519", `m/44'/501'/${index}'/0'`, "SOLANA"]),
);
const key = await privateKey("solana", "ED25519", ["SOLANA"]);
// The identifiers of each key.
const signers = [
  [new PublicKey(first.address), [first.address, first.publicKey]],
  [new PublicKey(second.address), [second.address]],
  [new PublicKey(key.addresses[0]), [key.id, key.addresses[0], key.publicKey]],
];

// Maximum size of one packet.
const MOST_BYTES = 1232;
const point = (random) => new PublicKey(random.bytes(32));
const pair = (random) => Keypair.fromSeed(random.bytes(32));
const lamports = (random) => random.edge(64);

function systems(random, from) {
  const to = point(random);
  return random.pick([
    () => SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: lamports(random) }),
    () => SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: lamports(random) }),
    () => SystemProgram.nonceAdvance({ noncePubkey: to, authorizedPubkey: from }),
    () => SystemProgram.assign({ accountPubkey: from, programId: to }),
    () => SystemProgram.allocate({ accountPubkey: from, space: random.below(10_000) }),
    () =>
      SystemProgram.createAccountWithSeed({
        fromPubkey: from,
        basePubkey: from,
        newAccountPubkey: to,
        seed: "säving",
        lamports: random.below(2 ** 40),
        space: random.below(500),
        programId: point(random),
      }),
  ])();
}

function tokens(random, owner) {
  const [source, mint, to] = [point(random), point(random), point(random)];
  const program = random.pick([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]);
  const [amount, decimals] = [random.edge(64), random.below(10)];
  return random.pick([
    () => createTransferInstruction(source, to, owner, amount, [], program),
    () => createTransferCheckedInstruction(source, mint, to, owner, amount, decimals, [], program),
    () => createTransferCheckedWithFeeInstruction(source, mint, to, owner, amount, decimals, random.edge(32)),
    () => createApproveCheckedInstruction(source, mint, to, owner, amount, decimals, [], program),
    () => createBurnCheckedInstruction(source, mint, owner, amount, decimals, [], program),
    () => createCloseAccountInstruction(source, to, owner, [], program),
    () => createSetAuthorityInstruction(source, owner, AuthorityType.AccountOwner, random.once(2) ? to : null, [], program),
    () => createAssociatedTokenAccountIdempotentInstruction(owner, source, to, mint, program),
  ])();
}

function others(random, from) {
  return random.pick([
    () => ComputeBudgetProgram.setComputeUnitLimit({ units: random.below(1_400_000) }),
    () => ComputeBudgetProgram.setComputeUnitPrice({ microLamports: random.edge(64) }),
    () => AddressLookupTableProgram.freezeLookupTable({ lookupTable: point(random), authority: from }),
    () => StakeProgram.deactivate({ stakePubkey: point(random), authorizedPubkey: from }).instructions[0],
    () =>
      new TransactionInstruction({
        programId: point(random),
        keys: random.list(0, 6, () => ({ pubkey: point(random), isSigner: false, isWritable: random.once(2) })),
        data: Buffer.from(random.bytes(random.below(200))),
      }),
  ])();
}

function instructions(random, signer, cosigners) {
  const one = () => random.pick([systems, tokens, others])(random, signer);
  // Each signer is required by an instruction.
  const required = [signer, ...cosigners.map((each) => each.publicKey)].map((fromPubkey) =>
    SystemProgram.transfer({ fromPubkey, toPubkey: point(random), lamports: lamports(random) }),
  );
  return [...random.list(0, 4, one), ...required];
}

// Returns tables with some of the accounts of the instructions.
function tables(random, instructionList) {
  const named = instructionList.flatMap(({ keys }) => keys.filter((each) => !each.isSigner).map((each) => each.pubkey));
  return random.list(0, 2, () => {
    const addresses = [...random.list(0, 4, () => point(random)), ...named.filter(() => random.once(2))];
    const state = { deactivationSlot: (1n << 64n) - 1n, lastExtendedSlot: 1, lastExtendedSlotStartIndex: 0, addresses };
    return new AddressLookupTableAccount({ key: point(random), state });
  });
}

function legacy(random, payerKey, instructionList, cosigners) {
  const recentBlockhash = point(random).toBase58();
  const transaction = new Transaction({ feePayer: payerKey, recentBlockhash }).add(...instructionList);
  if (cosigners.length > 0) transaction.partialSign(...cosigners);
  return transaction.serialize({ requireAllSignatures: false, verifySignatures: false });
}

function versioned(random, payerKey, instructionList, cosigners, details) {
  const message = new TransactionMessage({ payerKey, recentBlockhash: point(random).toBase58(), instructions: instructionList });
  const compiled = details.type === "v0" ? message.compileToV0Message(tables(random, instructionList)) : message.compileToLegacyMessage();
  details.lookups = compiled.addressTableLookups.length;
  const transaction = new VersionedTransaction(compiled);
  if (cosigners.length > 0) transaction.sign(cosigners);
  return transaction.serialize();
}

// Some of the other signers have signed before, the rest sign later.
function draw(random, type, signer, details) {
  const cosigners = random.once(2) ? [] : random.list(1, 3, () => pair(random));
  const instructionList = instructions(random, signer, cosigners);
  const payer = random.pick([signer, ...cosigners.map((each) => each.publicKey)]);
  const early = cosigners.filter(() => random.once(2));
  Object.assign(details, { type, cosigners: cosigners.length, early: early.length, lookups: 0 });
  return type === "legacy" ? legacy(random, payer, instructionList, early) : versioned(random, payer, instructionList, early, details);
}

function fitting(random, type, signer, details) {
  for (;;) {
    try {
      const bytes = draw(random, type, signer, details);
      if (bytes.length <= MOST_BYTES) return bytes;
    } catch (error) {
      // Neither class serializes more than one packet.
      if (!(error instanceof RangeError) && !/too large/.test(error.message)) throw error;
    }
  }
}

function check(unsigned, signed, signer) {
  const [before, after] = [unsigned, signed].map((hex) => VersionedTransaction.deserialize(Buffer.from(hex, "hex")));
  same(Buffer.from(after.serialize()).toString("hex"), signed, "web3.js serializes the signed transaction unchanged");
  const message = Buffer.from(after.message.serialize());
  same(message.toString("hex"), Buffer.from(before.message.serialize()).toString("hex"), "the message");
  const keys = after.message.staticAccountKeys.slice(0, after.message.header.numRequiredSignatures);
  const own = keys.findIndex((each) => each.equals(signer));
  for (const [slot, signature] of after.signatures.entries()) {
    if (slot === own) same(ed25519.verify(signature, message, signer.toBytes(), { zip215: false }), true, "the signature verifies");
    else same(Buffer.from(signature).toString("hex"), Buffer.from(before.signatures[slot]).toString("hex"), `slot ${slot}`);
  }
  const filled = after.signatures.every((each) => each.some((byte) => byte !== 0));
  if (after.version === "legacy") same(Transaction.from(Buffer.from(signed, "hex")).verifySignatures(filled), true, "all for web3.js");
}

await verify(async (random, _, details) => {
  const [signer, names] = random.pick(signers);
  const type = random.pick(["legacy", "v0", "versioned legacy"]);
  const unsigned = Buffer.from(fitting(random, type, signer, details)).toString("hex");
  const signWith = random.pick(names);
  Object.assign(details, { signWith, unsigned });
  if (random.once(20)) {
    const [other] = signers.filter(([each]) => !each.equals(signer));
    const invalid = random.pick(Object.values(SPOILED))(unsigned);
    const [requested, bytes] = random.once(2) ? [other[1][0], unsigned] : [signWith, invalid];
    return refused(() => sign("SOLANA", requested, bytes));
  }
  const signed = await sign("SOLANA", signWith, random.once(4) ? `0x${unsigned}` : unsigned);
  details.signed = signed;
  check(unsigned, signed, signer);
  return [type, ...(details.cosigners ? ["several signers"] : []), ...(details.early ? ["signed before"] : []), ...(details.lookups ? ["lookups"] : [])];
});
