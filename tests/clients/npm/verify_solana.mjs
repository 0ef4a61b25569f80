// Transactions of Solana, legacy and of version 0, made by web3.js: with one signer and several, in each order, with
// tokens, and with accounts from lookup tables.

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
// The names of each key.
const signers = [
  [new PublicKey(first.address), [first.address, first.publicKey]],
  [new PublicKey(second.address), [second.address]],
  [new PublicKey(key.addresses[0]), [key.id, key.addresses[0], key.publicKey]],
];

// What fits in one packet.
const MOST_BYTES = 1232;
const point = (chance) => new PublicKey(chance.bytes(32));
const pair = (chance) => Keypair.fromSeed(chance.bytes(32));
const lamports = (chance) => chance.edge(64);

function systems(chance, from) {
  const to = point(chance);
  return chance.pick([
    () => SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: lamports(chance) }),
    () => SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: lamports(chance) }),
    () => SystemProgram.nonceAdvance({ noncePubkey: to, authorizedPubkey: from }),
    () => SystemProgram.assign({ accountPubkey: from, programId: to }),
    () => SystemProgram.allocate({ accountPubkey: from, space: chance.below(10_000) }),
    () =>
      SystemProgram.createAccountWithSeed({
        fromPubkey: from,
        basePubkey: from,
        newAccountPubkey: to,
        seed: "säving",
        lamports: chance.below(2 ** 40),
        space: chance.below(500),
        programId: point(chance),
      }),
  ])();
}

function tokens(chance, owner) {
  const [source, mint, to] = [point(chance), point(chance), point(chance)];
  const program = chance.pick([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]);
  const [amount, decimals] = [chance.edge(64), chance.below(10)];
  return chance.pick([
    () => createTransferInstruction(source, to, owner, amount, [], program),
    () => createTransferCheckedInstruction(source, mint, to, owner, amount, decimals, [], program),
    () => createTransferCheckedWithFeeInstruction(source, mint, to, owner, amount, decimals, chance.edge(32)),
    () => createApproveCheckedInstruction(source, mint, to, owner, amount, decimals, [], program),
    () => createBurnCheckedInstruction(source, mint, owner, amount, decimals, [], program),
    () => createCloseAccountInstruction(source, to, owner, [], program),
    () => createSetAuthorityInstruction(source, owner, AuthorityType.AccountOwner, chance.once(2) ? to : null, [], program),
    () => createAssociatedTokenAccountIdempotentInstruction(owner, source, to, mint, program),
  ])();
}

function others(chance, from) {
  return chance.pick([
    () => ComputeBudgetProgram.setComputeUnitLimit({ units: chance.below(1_400_000) }),
    () => ComputeBudgetProgram.setComputeUnitPrice({ microLamports: chance.edge(64) }),
    () => AddressLookupTableProgram.freezeLookupTable({ lookupTable: point(chance), authority: from }),
    () => StakeProgram.deactivate({ stakePubkey: point(chance), authorizedPubkey: from }).instructions[0],
    () =>
      new TransactionInstruction({
        programId: point(chance),
        keys: chance.list(0, 6, () => ({ pubkey: point(chance), isSigner: false, isWritable: chance.once(2) })),
        data: Buffer.from(chance.bytes(chance.below(200))),
      }),
  ])();
}

function instructions(chance, signer, cosigners) {
  const one = () => chance.pick([systems, tokens, others])(chance, signer);
  // Each signer is asked for by an instruction.
  const asked = [signer, ...cosigners.map((each) => each.publicKey)].map((fromPubkey) =>
    SystemProgram.transfer({ fromPubkey, toPubkey: point(chance), lamports: lamports(chance) }),
  );
  return [...chance.list(0, 4, one), ...asked];
}

// Tables that hold some of the accounts that the instructions name.
function tables(chance, made) {
  const named = made.flatMap(({ keys }) => keys.filter((each) => !each.isSigner).map((each) => each.pubkey));
  return chance.list(0, 2, () => {
    const addresses = [...chance.list(0, 4, () => point(chance)), ...named.filter(() => chance.once(2))];
    const state = { deactivationSlot: (1n << 64n) - 1n, lastExtendedSlot: 1, lastExtendedSlotStartIndex: 0, addresses };
    return new AddressLookupTableAccount({ key: point(chance), state });
  });
}

function legacy(chance, payerKey, made, cosigners) {
  const recentBlockhash = point(chance).toBase58();
  const transaction = new Transaction({ feePayer: payerKey, recentBlockhash }).add(...made);
  if (cosigners.length > 0) transaction.partialSign(...cosigners);
  return transaction.serialize({ requireAllSignatures: false, verifySignatures: false });
}

function versioned(chance, payerKey, made, cosigners, told) {
  const message = new TransactionMessage({ payerKey, recentBlockhash: point(chance).toBase58(), instructions: made });
  const compiled = told.type === "v0" ? message.compileToV0Message(tables(chance, made)) : message.compileToLegacyMessage();
  told.lookups = compiled.addressTableLookups.length;
  const transaction = new VersionedTransaction(compiled);
  if (cosigners.length > 0) transaction.sign(cosigners);
  return transaction.serialize();
}

// Some of the others have signed before, the rest will do so later.
function draw(chance, type, signer, told) {
  const cosigners = chance.once(2) ? [] : chance.list(1, 3, () => pair(chance));
  const made = instructions(chance, signer, cosigners);
  const payer = chance.pick([signer, ...cosigners.map((each) => each.publicKey)]);
  const early = cosigners.filter(() => chance.once(2));
  Object.assign(told, { type, cosigners: cosigners.length, early: early.length, lookups: 0 });
  return type === "legacy" ? legacy(chance, payer, made, early) : versioned(chance, payer, made, early, told);
}

function fitting(chance, type, signer, told) {
  for (;;) {
    try {
      const bytes = draw(chance, type, signer, told);
      if (bytes.length <= MOST_BYTES) return bytes;
    } catch (error) {
      // Neither class writes what is larger than a packet.
      if (!(error instanceof RangeError) && !/too large/.test(error.message)) throw error;
    }
  }
}

function judge(unsigned, signed, signer) {
  const [before, after] = [unsigned, signed].map((hex) => VersionedTransaction.deserialize(Buffer.from(hex, "hex")));
  same(Buffer.from(after.serialize()).toString("hex"), signed, "web3.js writes what was signed as it is");
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

await verify(async (chance, _, told) => {
  const [signer, names] = chance.pick(signers);
  const type = chance.pick(["legacy", "v0", "versioned legacy"]);
  const unsigned = Buffer.from(fitting(chance, type, signer, told)).toString("hex");
  const signWith = chance.pick(names);
  Object.assign(told, { signWith, unsigned });
  if (chance.once(20)) {
    const [other] = signers.filter(([each]) => !each.equals(signer));
    const spoiled = chance.pick(Object.values(SPOILED))(unsigned);
    const [asked, bytes] = chance.once(2) ? [other[1][0], unsigned] : [signWith, spoiled];
    return refused(() => sign("SOLANA", asked, bytes));
  }
  const signed = await sign("SOLANA", signWith, chance.once(4) ? `0x${unsigned}` : unsigned);
  told.signed = signed;
  judge(unsigned, signed, signer);
  return [type, ...(told.cosigners ? ["several signers"] : []), ...(told.early ? ["signed before"] : []), ...(told.lookups ? ["lookups"] : [])];
});
