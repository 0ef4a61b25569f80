// Shared parts of the chain verifiers: a client of @turnkey/http, keys to sign with, and the loop that generates random
// transactions, has several signed at a time, and counts the valid signatures.
//   node verify_CHAIN.mjs COUNT CREDENTIALS_FILE [SEED]

import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ApiKeyStamper } from "@turnkey/sdk-server";
import { TurnkeyClient, assertActivityCompleted } from "@turnkey/http";
import { Random } from "./random.mjs";

const [count, file, seed = randomBytes(8).toString("hex")] = process.argv.slice(2);
const total = Number(count);
export const credentials = JSON.parse(readFileSync(file, "utf8"));
export const { organizationId } = credentials;
const [root] = credentials.rootUsers;
export const stamper = new ApiKeyStamper({ apiPublicKey: root.publicKey, apiPrivateKey: root.privateKey });
export const client = new TurnkeyClient({ baseUrl: credentials.baseUrl }, stamper);

// Number of requests in flight.
const WIDTH = 16;
// Number of failures that are reported in full.
const MAX_FAILURES = 10;

// Submits an activity through the client's method and returns the only member of its result.
export async function submit(method, type, parameters) {
  const { activity } = await client[method]({ type, organizationId, timestampMs: String(Date.now()), parameters });
  assertActivityCompleted(activity);
  const [result] = Object.values(activity.result).filter((each) => each !== undefined && each !== null);
  return result;
}

// Signs a transaction. Both sides use hex without a prefix.
export async function sign(chain, signWith, unsignedTransaction) {
  const parameters = { signWith, type: `TRANSACTION_TYPE_${chain}`, unsignedTransaction };
  const { signedTransaction } = await submit("signTransaction", "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", parameters);
  same(/^([0-9a-f]{2})+$/.test(signedTransaction), true, "is lower-case hex without a prefix");
  return signedTransaction;
}

// Signs a payload, and returns r, s and v.
export async function signRaw(signWith, payload, encoding, hashFunction) {
  const parameters = { signWith, payload, encoding: `PAYLOAD_ENCODING_${encoding}`, hashFunction: `HASH_FUNCTION_${hashFunction}` };
  const signature = await submit("signRawPayload", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", parameters);
  for (const part of [signature.r, signature.s]) same(/^[0-9a-f]{64}$/.test(part), true, "r and s are 32 bytes of lower-case hex");
  return signature;
}

// Creates a wallet, and returns its accounts in this order, each with address, format and public key.
export async function wallet(walletName, accounts) {
  const { walletId } = await submit("createWallet", "ACTIVITY_TYPE_CREATE_WALLET", {
    walletName,
    accounts: accounts.map(([curve, path, addressFormat]) => ({
      curve: `CURVE_${curve}`,
      pathFormat: "PATH_FORMAT_BIP32",
      path,
      addressFormat: `ADDRESS_FORMAT_${addressFormat}`,
    })),
  });
  const page = { limit: "100" };
  const listed = await client.getWalletAccounts({ organizationId, walletId, paginationOptions: page });
  return accounts.map(([, path, format]) => {
    const { address, publicKey } = listed.accounts.find((each) => each.path === path && each.addressFormat === `ADDRESS_FORMAT_${format}`);
    return { format, address, publicKey };
  });
}

// Creates a private key with these addresses, and returns its id, its public key and the addresses in this
// order.
export async function privateKey(privateKeyName, curve, formats) {
  const addressFormats = formats.map((each) => `ADDRESS_FORMAT_${each}`);
  const parameters = { privateKeys: [{ privateKeyName, curve: `CURVE_${curve}`, privateKeyTags: [], addressFormats }] };
  const { privateKeys } = await submit("createPrivateKeys", "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", parameters);
  const [{ privateKeyId, addresses }] = privateKeys;
  const stored = await client.getPrivateKey({ organizationId, privateKeyId });
  return { id: privateKeyId, publicKey: stored.privateKey.publicKey, addresses: addresses.map((each) => each.address) };
}

// Throws unless both values are equal.
export function same(actual, expected, what) {
  if (isDeepStrictEqual(actual, expected)) return;
  const text = (value) => JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}n` : each));
  throw new Error(`${what}: ${text(actual)} instead of ${text(expected)}`);
}

// Changes that make every transaction invalid.
export const SPOILED = {
  cut: (hex) => hex.slice(0, -2),
  trailing: (hex) => `${hex}00`,
};

// Throws unless signing fails because of the transaction, and returns the kind of this trial.
export async function refused(signing) {
  const answer = await signing().then(() => "a signature", ({ code, message }) => `${code}: ${message}`);
  same(answer.startsWith("3: Turnkey error 3: failed to parse transaction"), true, `is refused, and not answered with ${answer}`);
  return "refused";
}

async function trial(index, each, seen) {
  const random = new Random(`${seed}/${index}`);
  const details = { index };
  try {
    const kinds = await each(random, index, details);
    for (const kind of [kinds].flat()) seen.counts[kind] = (seen.counts[kind] ?? 0) + 1;
    seen.verified += 1;
  } catch (error) {
    const why = String(error.stack ?? error).split("\n").slice(0, 3).join(" ");
    seen.failed += 1;
    if (seen.failures.length < MAX_FAILURES) seen.failures.push({ ...details, why });
  }
}

// Runs all trials, and prints the observations. Each trial returns its kinds, and may add details that are printed if
// it fails.
export async function verify(each) {
  const seen = { seed, total, verified: 0, failed: 0, counts: {}, failures: [] };
  const started = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < total) await trial(next++, each, seen);
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
  seen.seconds = Number(((performance.now() - started) / 1000).toFixed(1));
  process.stdout.write(JSON.stringify(seen));
}
