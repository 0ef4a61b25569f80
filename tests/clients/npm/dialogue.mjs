// What the stories of policies share: a conversation with whoever started the program, people of the organization, and
// what is told of an activity and of a refusal. Nothing is judged here.

import { createInterface } from "node:readline";
import { client, credentials, keyPair } from "./watch.mjs";

const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();

function say(seen) {
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

// Tells what was seen, and goes on when the other side has looked and acted from where it stands.
export async function tell(seen) {
  say(seen);
  const { done } = await lines.next();
  if (done) throw new Error("nobody listens any more");
}

// Tells what was seen at the end.
export function tellLast(seen) {
  say(seen);
  input.close();
}

export const [first, second] = credentials.rootUsers;
export const alice = client(first);
export const bob = client(second);

const apiKey = ({ publicKey }) => ({ apiKeyName: "first", publicKey, curveType: "API_KEY_CURVE_P256" });

// A user as a request that makes users names one.
export const newcomer = (userName, key) => ({ userName, apiKeys: [apiKey(key)], authenticators: [], oauthProviders: [] });

// Makes a user outside of the root quorum: what another program needs to act as this person, and a client.
export async function hire(userName, userTags = []) {
  const key = keyPair(userName);
  const { userIds } = await alice.createUsers({ users: [{ ...newcomer(userName, key), userTags }] });
  const person = { userId: userIds[0], userName, ...key };
  return { person, userId: person.userId, client: client(key) };
}

// An account whose address is its public key.
export const account = (index) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED",
});

// Makes a wallet of one account.
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

// Both root users must agree from now on.
export const bothAgree = () => alice.updateRootQuorum({ threshold: 2, userIds: [first.userId, second.userId] });

// What is told of an activity.
export const brief = ({ activity: { id, fingerprint, status, votes } }) => ({
  id,
  fingerprint,
  status,
  voters: votes.map((vote) => vote.userId),
});

// An activity as it is now, with what policies said at each vote.
export async function recalled(asker, activityId) {
  const { policyEvaluations } = await asker.getPolicyEvaluations({ activityId });
  const { activity } = await asker.getActivity({ activityId });
  return {
    ...brief({ activity }),
    voteIds: activity.votes.map((vote) => vote.id),
    evaluations: policyEvaluations,
    signature: activity.result.signRawPayloadResult,
  };
}

// The client keeps the HTTP status of an answer to itself.
let status;
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const response = await fetch(...request);
  status = response.status;
  return response;
};

// How a call is refused.
export async function refused(call) {
  try {
    return { unexpected: await call() };
  } catch ({ name, code, message, details }) {
    return { status, name, code, message, details };
  }
}
