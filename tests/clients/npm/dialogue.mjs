// Shared parts of the policy scenarios: the dialogue with the calling program, users of the organization, and reports
// of activities and errors. Nothing is checked here.

import { createInterface } from "node:readline";
import { client, credentials, keyPair } from "./watch.mjs";

const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();

function print(seen) {
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

// Reports observations, and continues when the calling program has checked them and acted.
export async function report(seen) {
  print(seen);
  const { done } = await lines.next();
  if (done) throw new Error("the calling program has ended");
}

// Reports the last observations.
export function reportLast(seen) {
  print(seen);
  input.close();
}

export const [first, second] = credentials.rootUsers;
export const alice = client(first);
export const bob = client(second);

const apiKey = ({ publicKey }) => ({ apiKeyName: "first", publicKey, curveType: "API_KEY_CURVE_P256" });

// Returns a user for a request that creates users.
export const newcomer = (userName, key) => ({ userName, apiKeys: [apiKey(key)], authenticators: [], oauthProviders: [] });

// Creates a user outside of the root quorum. Returns its credentials for another program, and a client.
export async function hire(userName, userTags = []) {
  const key = keyPair(userName);
  const { userIds } = await alice.createUsers({ users: [{ ...newcomer(userName, key), userTags }] });
  const person = { userId: userIds[0], userName, ...key };
  return { person, userId: person.userId, client: client(key) };
}

// Returns an account whose address is its public key.
export const account = (index) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED",
});

// Creates a wallet with one account.
export async function purse(walletName) {
  const { walletId, addresses } = await alice.createWallet({ walletName, accounts: [account(0)] });
  return { walletId, address: addresses[0] };
}

export const payload = (signWith, text, hashFunction = "HASH_FUNCTION_SHA256") => ({
  signWith,
  payload: text,
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction,
});

// Requires the approval of both root users from now on.
export const bothAgree = () => alice.updateRootQuorum({ threshold: 2, userIds: [first.userId, second.userId] });

// Returns the reported members of an activity.
export const brief = ({ activity: { id, fingerprint, status, votes } }) => ({
  id,
  fingerprint,
  status,
  voters: votes.map((vote) => vote.userId),
});

// Returns the current state of an activity, with the policy outcomes at each vote.
export async function recalled(caller, activityId) {
  const { policyEvaluations } = await caller.getPolicyEvaluations({ activityId });
  const { activity } = await caller.getActivity({ activityId });
  return {
    ...brief({ activity }),
    voteIds: activity.votes.map((vote) => vote.id),
    evaluations: policyEvaluations,
    signature: activity.result.signRawPayloadResult,
  };
}

// The client does not expose the HTTP status of an answer.
let status;
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const response = await fetch(...request);
  status = response.status;
  return response;
};

// Returns the error of a call.
export async function refused(call) {
  try {
    return { unexpected: await call() };
  } catch ({ name, code, message, details }) {
    return { status, name, code, message, details };
  }
}
