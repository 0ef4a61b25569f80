// Does the main job with the unmodified @turnkey/sdk-server against the daemon of a credentials file. Prints its
// observations as one JSON object, which the scenario checks. This program only verifies signatures, with an
// independent library.
//   node scenario.mjs CREDENTIALS_FILE

import { readFileSync } from "node:fs";
import { Turnkey } from "@turnkey/sdk-server";
import { p256 } from "@noble/curves/p256";
import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak_256 } from "@noble/hashes/sha3";
import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";

const credentials = JSON.parse(readFileSync(process.argv[2], "utf8"));
const [first, second] = credentials.rootUsers;

function client(publicKey, privateKey, organizationId = credentials.organizationId) {
  return new Turnkey({
    apiBaseUrl: credentials.baseUrl,
    apiPublicKey: publicKey,
    apiPrivateKey: privateKey,
    defaultOrganizationId: organizationId,
    activityPoller: { intervalMs: 20, numRetries: 3 },
  }).apiClient();
}

function keyPair() {
  const secret = p256.utils.randomPrivateKey();
  return { publicKey: bytesToHex(p256.getPublicKey(secret, true)), privateKey: bytesToHex(secret) };
}

async function failure(call) {
  try {
    return { unexpected: await call() };
  } catch (error) {
    return { name: error.name, code: error.code ?? null, message: error.message, details: error.details ?? null };
  }
}

const account = (index, addressFormat) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat,
});

const payload = (signWith, text) => ({
  signWith,
  payload: text,
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_SHA256",
});

// Returns whether the signature verifies with the public key, and v recovers that key.
function verified({ r, s, v }, text, publicKey) {
  const digest = sha256(utf8ToBytes(text));
  const signature = secp256k1.Signature.fromCompact(r + s);
  const recovered = signature.addRecoveryBit(Number.parseInt(v, 16)).recoverPublicKey(digest).toHex(false);
  return secp256k1.verify(signature, digest, publicKey) && recovered === publicKey;
}

function ethereumAddress(publicKey) {
  const point = secp256k1.ProjectivePoint.fromHex(publicKey).toRawBytes(false);
  return `0x${bytesToHex(keccak_256(point.slice(1)).slice(-20))}`;
}

const alice = client(first.publicKey, first.privateKey);
const bob = client(second.publicKey, second.privateKey);
const seen = {};

seen.whoami = await alice.getWhoami();

const wallet = await alice.createWallet({
  walletName: "npm",
  accounts: [account(0, "ADDRESS_FORMAT_UNCOMPRESSED"), account(1, "ADDRESS_FORMAT_ETHEREUM")],
});
const [publicKey, address] = wallet.addresses;
const { accounts } = await alice.getWalletAccounts({ walletId: wallet.walletId });
const ethereum = accounts.find((each) => each.address === address);
seen.wallet = {
  walletId: wallet.walletId,
  addresses: wallet.addresses,
  status: wallet.activity.status,
  addressFitsItsKey: ethereumAddress(ethereum.publicKey) === address.toLowerCase(),
};

const signed = await alice.signRawPayload(payload(publicKey, "signed alone"));
seen.signed = { verified: verified(signed, "signed alone", publicKey), status: signed.activity.status };

const childKey = keyPair();
const child = await alice.createSubOrganization({
  subOrganizationName: "npm child",
  rootUsers: [
    {
      userName: "child root",
      apiKeys: [{ apiKeyName: "first", publicKey: childKey.publicKey, curveType: "API_KEY_CURVE_P256" }],
      authenticators: [],
      oauthProviders: [],
    },
  ],
  rootQuorumThreshold: 1,
  wallet: { walletName: "child wallet", accounts: [account(0, "ADDRESS_FORMAT_UNCOMPRESSED")] },
});
const childClient = client(childKey.publicKey, childKey.privateKey, child.subOrganizationId);
const childSigned = await childClient.signRawPayload(payload(child.wallet.addresses[0], "signed in the child"));
seen.child = {
  subOrganizationId: child.subOrganizationId,
  rootUserIds: child.rootUserIds,
  whoami: await childClient.getWhoami(),
  verified: verified(childSigned, "signed in the child", child.wallet.addresses[0]),
};

const outsiderKey = keyPair();
await alice.createUsers({
  users: [
    {
      userName: "outsider",
      apiKeys: [{ apiKeyName: "first", publicKey: outsiderKey.publicKey, curveType: "API_KEY_CURVE_P256" }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    },
  ],
});

await alice.updateRootQuorum({ threshold: 2, userIds: [first.userId, second.userId] });
const pending = await alice.signRawPayload(payload(publicKey, "signed by two"));
seen.pending = {
  id: pending.activity.id,
  status: pending.activity.status,
  votes: pending.activity.votes.length,
  hasSignature: "r" in pending,
};
const approved = await bob.approveActivity({ fingerprint: pending.activity.fingerprint });
seen.approved = {
  id: approved.activity.id,
  status: approved.activity.status,
  verified: verified(approved.signRawPayloadResult, "signed by two", publicKey),
};
const fetched = await alice.getActivity({ activityId: pending.activity.id });
seen.fetched = {
  status: fetched.activity.status,
  verified: verified(fetched.activity.result.signRawPayloadResult, "signed by two", publicKey),
};

const unknown = keyPair();
seen.unknownKey = await failure(() => client(unknown.publicKey, unknown.privateKey).getWhoami());
seen.unknownSigner = await failure(() => childClient.signRawPayload(payload(`0x${"00".repeat(20)}`, "text")));
const outsider = client(outsiderKey.publicKey, outsiderKey.privateKey);
seen.denied = await failure(() => outsider.createWallet({ walletName: "denied", accounts: [account(0, "ADDRESS_FORMAT_ETHEREUM")] }));

process.stdout.write(JSON.stringify(seen));
