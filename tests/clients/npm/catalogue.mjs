// Calls the kinds that change users, tags, policies, credentials, keys and names through @turnkey/sdk-server,
// unmodified, and prints what it saw as one JSON object. The story judges.
//   node catalogue.mjs CREDENTIALS_FILE

import { readFileSync } from "node:fs";
import { Turnkey } from "@turnkey/sdk-server";

const credentials = JSON.parse(readFileSync(process.argv[2], "utf8"));
const [first, second] = credentials.rootUsers;
const client = new Turnkey({
  apiBaseUrl: credentials.baseUrl,
  apiPublicKey: first.publicKey,
  apiPrivateKey: first.privateKey,
  defaultOrganizationId: credentials.organizationId,
  activityPoller: { intervalMs: 20, numRetries: 3 },
}).apiClient();
const seen = {};
const userId = second.userId;
const user = async () => (await client.getUser({ userId })).user;

const { userTagId } = await client.createUserTag({ userTagName: "npm", userIds: [userId] });
await client.updateUserTag({ userTagId, newUserTagName: "npm renamed", addUserIds: [first.userId], removeUserIds: [] });
seen.userTags = (await client.listUserTags({})).userTags.map((tag) => [tag.tagId === userTagId, tag.tagName, tag.tagType]);
seen.tagged = (await user()).userTags.includes(userTagId);
const untagged = await client.deleteUserTags({ userTagIds: [userTagId] });
seen.untagged = [untagged.userTagIds.length, untagged.userIds.length, (await user()).userTags.length];

await client.updateUser({ userId, userName: "second", userEmail: "second@example.com", userTagIds: [] });
await client.updateUserName({ userId, userName: "second renamed" });
await client.updateUserEmail({ userId, userEmail: "other@example.com" });
await client.updateUserPhoneNumber({ userId, userPhoneNumber: "+4915112345678" });
const { userName, userEmail, userPhoneNumber } = await user();
seen.user = { userName, userEmail, userPhoneNumber };

const { policyIds } = await client.createPolicies({
  policies: ["one", "two"].map((policyName) => ({
    policyName,
    effect: "EFFECT_DENY",
    condition: "activity.kind == 'EXPORT_WALLET'",
    notes: "",
  })),
});
const { policyId } = await client.updatePolicy({ policyId: policyIds[0], policyName: "renamed", policyNotes: "noted" });
const { policy } = await client.getPolicy({ policyId });
seen.policy = [policy.policyName, policy.notes, policy.condition, policy.consensus];
await client.deletePolicy({ policyId });
await client.deletePolicies({ policyIds: [policyIds[1]] });
seen.policies = (await client.getPolicies({})).policies.length;

const made = await client.createPrivateKeys({
  privateKeys: [
    { privateKeyName: "npm", curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] },
  ],
});
const [{ privateKeyId }] = made.privateKeys;
const { privateKeyTagId } = await client.createPrivateKeyTag({ privateKeyTagName: "npm", privateKeyIds: [privateKeyId] });
await client.updatePrivateKeyTag({
  privateKeyTagId,
  newPrivateKeyTagName: "npm renamed",
  addPrivateKeyIds: [],
  removePrivateKeyIds: [privateKeyId],
});
seen.keyTags = (await client.listPrivateKeyTags({})).privateKeyTags.map((tag) => [tag.tagName, tag.tagType]);
seen.untaggedKeys = (await client.deletePrivateKeyTags({ privateKeyTagIds: [privateKeyTagId] })).privateKeyIds;
await client.deletePrivateKeys({ privateKeyIds: [privateKeyId], deleteWithoutExport: true });
seen.keys = (await client.getPrivateKeys({})).privateKeys.length;

const { walletId } = await client.createWallet({
  walletName: "npm",
  accounts: [
    { curve: "CURVE_ED25519", pathFormat: "PATH_FORMAT_BIP32", path: "m/44'/501'/0'/0'", addressFormat: "ADDRESS_FORMAT_SOLANA" },
  ],
});
const accounts = async () => (await client.getWalletAccounts({ walletId })).accounts;
const [{ walletAccountId }] = await accounts();
const gone = await client.deleteWalletAccounts({ walletAccountIds: [walletAccountId], deleteWithoutExport: true });
seen.accounts = [gone.walletAccountIds[0] === walletAccountId, (await accounts()).length];

const passkey = await client.createAuthenticators({
  userId,
  authenticators: [
    {
      authenticatorName: "key",
      challenge: "Y2hhbGxlbmdl",
      attestation: { credentialId: "npm", clientDataJson: "e30", attestationObject: "oA", transports: ["AUTHENTICATOR_TRANSPORT_USB"] },
    },
  ],
});
seen.authenticators = (await client.getAuthenticators({ userId })).authenticators.map((one) => one.credentialId);
await client.deleteAuthenticators({ userId, authenticatorIds: passkey.authenticatorIds });
const identity = await client.createOauthProviders({
  userId,
  oauthProviders: [{ providerName: "own", oidcClaims: { iss: "https://issuer.example", sub: "npm", aud: "quorate" } }],
});
seen.oauthProviders = (await client.getOauthProviders({ userId })).oauthProviders.map((one) => [one.issuer, one.subject]);
await client.deleteOauthProviders({ userId, providerIds: identity.providerIds });

const renamed = await client.updateOrganizationName({ organizationName: "npm organization" });
seen.renamed = [renamed.organizationName, (await client.getWhoami()).organizationName];

process.stdout.write(JSON.stringify(seen));
