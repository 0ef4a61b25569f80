// Users, their tags and their credentials, through the clients' own methods.

import { readFileSync } from "node:fs";
import { credentials, keyPair, named, plain, result } from "./watch.mjs";

// Answers of third-party software authenticators.
const { witnesses } = JSON.parse(readFileSync(new URL("../../../assets/vectors/webauthn/witness.json", import.meta.url), "utf8"));
const bare = { authenticators: [], oauthProviders: [], userTags: [] };
const key = (name) => ({ apiKeyName: name, publicKey: keyPair(`${name} key`).publicKey, curveType: "API_KEY_CURVE_P256" });

export async function users({ alice, raw }) {
  const seen = {};
  const create = await alice.createUsers({ users: [{ ...bare, userName: "third", apiKeys: [key("third")] }] });
  const userId = named("third", create.userIds[0]);
  seen.create = result(create);
  const only = await raw.createApiOnlyUsers({
    type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
    timestampMs: String(Date.now()),
    organizationId: credentials.organizationId,
    parameters: {
      apiOnlyUsers: [{ userName: "robot", userTags: [], apiKeys: [{ apiKeyName: "robot", publicKey: keyPair("robot key").publicKey }] }],
    },
  });
  const robot = named("robot", only.activity.result.createApiOnlyUsersResult.userIds[0]);
  seen.createApiOnly = [only.activity.status, plain(only.activity.result)];

  seen.update = result(await alice.updateUser({ userId, userName: "changed", userEmail: "third@example.com", userTagIds: [] }));
  const user = async () => (await alice.getUser({ userId })).user;
  const { userName, userEmail } = await user();
  seen.updated = [userName, userEmail];
  seen.name = result(await alice.updateUserName({ userId, userName: "third renamed" }));
  seen.email = result(await alice.updateUserEmail({ userId, userEmail: "other@example.com" }));
  seen.phone = result(await alice.updateUserPhoneNumber({ userId, userPhoneNumber: "+4915112345678" }));
  const third = await user();
  named("third key id", third.apiKeys[0].apiKeyId);
  seen.get = plain(third);
  const list = async () => plain((await alice.getUsers({})).users.map((each) => [each.userId, each.userName])).sort();
  seen.list = await list();
  seen.delete = result(await alice.deleteUsers({ userIds: [userId, robot] }));
  seen.left = await list();
  return seen;
}

export async function userTags({ alice, first, second }) {
  const seen = {};
  const create = await alice.createUserTag({ userTagName: "npm", userIds: [second.userId] });
  const userTagId = named("user tag", create.userTagId);
  seen.create = result(create);
  seen.update = result(
    await alice.updateUserTag({ userTagId, newUserTagName: "npm renamed", addUserIds: [first.userId], removeUserIds: [second.userId] }),
  );
  const tagged = async () => {
    const { users } = await alice.getUsers({});
    return plain(users.filter((user) => user.userTags.includes(userTagId)).map((user) => user.userId));
  };
  seen.list = plain(await alice.listUserTags({}));
  seen.tagged = await tagged();
  seen.delete = result(await alice.deleteUserTags({ userTagIds: [userTagId] }));
  seen.left = plain(await alice.listUserTags({}));
  seen.stillTagged = await tagged();
  return seen;
}

async function apiKeys({ alice, second: { userId } }) {
  const seen = {};
  const create = await alice.createApiKeys({ userId, apiKeys: [{ ...key("spare"), expirationSeconds: "600" }] });
  const apiKeyId = named("spare", create.apiKeyIds[0]);
  seen.create = result(create);
  seen.get = plain(await alice.getApiKey({ apiKeyId }));
  const list = async () => (await alice.getApiKeys({ userId })).apiKeys.map((each) => each.apiKeyName).sort();
  seen.list = await list();
  seen.delete = result(await alice.deleteApiKeys({ userId, apiKeyIds: [apiKeyId] }));
  seen.left = await list();
  return seen;
}

async function authenticators({ alice, second: { userId } }) {
  const seen = {};
  const { credentialId, registration } = witnesses[0];
  const { challenge, ...answered } = registration;
  const attestation = { credentialId, ...answered, transports: ["AUTHENTICATOR_TRANSPORT_USB"] };
  const create = await alice.createAuthenticators({
    userId,
    authenticators: [{ authenticatorName: "passkey", challenge, attestation }],
  });
  const authenticatorId = named("passkey", create.authenticatorIds[0]);
  seen.create = result(create);
  seen.get = plain(await alice.getAuthenticator({ authenticatorId }));
  const list = async () => plain((await alice.getAuthenticators({ userId })).authenticators.map((each) => each.authenticatorId));
  seen.list = await list();
  seen.delete = result(await alice.deleteAuthenticators({ userId, authenticatorIds: [authenticatorId] }));
  seen.left = await list();
  return seen;
}

async function oauthProviders({ alice, second: { userId } }) {
  const seen = {};
  const create = await alice.createOauthProviders({
    userId,
    oauthProviders: [{ providerName: "own", oidcClaims: { iss: "https://issuer.example", sub: "npm", aud: "quorate" } }],
  });
  const providerId = named("provider", create.providerIds[0]);
  seen.create = result(create);
  seen.list = plain(await alice.getOauthProviders({ userId }));
  seen.delete = result(await alice.deleteOauthProviders({ userId, providerIds: [providerId] }));
  seen.left = plain(await alice.getOauthProviders({ userId }));
  return seen;
}

export async function credentialsOfUsers(cast) {
  return {
    apiKeys: await apiKeys(cast),
    authenticators: await authenticators(cast),
    oauthProviders: await oauthProviders(cast),
  };
}
