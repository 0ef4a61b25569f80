// Sessions, through the clients' own methods and the unmodified helpers of @turnkey/crypto, which know the key that
// signs session tokens as the quorum key.

import { decryptCredentialBundle, generateP256KeyPair, getPublicKey, verifySessionJwtSignature } from "@turnkey/crypto";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { client, credentials, failure, keyPair, named, plain, result } from "./watch.mjs";

const { baseUrl, organizationId, quorumPublicKey } = credentials;

// Decodes the claims as browsers do: with plain base64, which knows neither - nor _.
const claims = (token) => JSON.parse(atob(token.split(".")[1]));

export async function sessions({ alice }) {
  const seen = {};
  const key = keyPair("session key");
  const { session } = await alice.stampLogin({ publicKey: key.publicKey, expirationSeconds: "600" });
  const { exp, ...rest } = claims(session);
  seen.claims = plain(rest);
  seen.seconds = Math.round((exp - Date.now() / 1000) / 60) * 60;
  const [header, payload, signature] = session.split(".");
  const other = `${header}.${payload}.${(signature[0] === "A" ? "B" : "A") + signature.slice(1)}`;
  seen.verified = await verifySessionJwtSignature(session, quorumPublicKey);
  seen.changed = await verifySessionJwtSignature(other, quorumPublicKey);
  seen.ofVendor = await verifySessionJwtSignature(session);
  seen.whoami = plain((await client(key).getWhoami()).userId);

  const target = generateP256KeyPair();
  const opened = await alice.createReadWriteSession({ targetPublicKey: target.publicKeyUncompressed });
  const privateKey = decryptCredentialBundle(opened.credentialBundle, target.privateKey);
  const publicKey = named("read-write key", bytesToHex(getPublicKey(hexToBytes(privateKey), true)));
  named("read-write key id", opened.apiKeyId);
  named("bundle", opened.credentialBundle);
  seen.readWrite = result(opened);
  seen.readWriteWhoami = plain((await client({ publicKey, privateKey }).getWhoami()).userId);
  const { apiKeys } = await alice.getApiKeys({ userId: opened.userId });
  seen.types = apiKeys.map((each) => each.credential.type);

  // Without an implementation in these clients, as earlier ones did: the header alone.
  const readOnly = await alice.createReadOnlySession({});
  const token = named("token", readOnly.session);
  const expiry = Number(named("expiry", readOnly.sessionExpiry)) - Date.now() / 1000;
  seen.readOnly = result(readOnly);
  seen.readOnlySeconds = Math.round(expiry / 60) * 60;
  const body = JSON.stringify({ organizationId });
  const request = (path) => fetch(`${baseUrl}/public/v1/${path}`, { method: "POST", body, headers: { "X-Session": token } });
  seen.readOnlyWhoami = plain((await (await request("query/whoami")).json()).userId);
  const submitted = await request("submit/create_user_tag");
  seen.submitted = [submitted.status, (await submitted.json()).turnkeyErrorCode];

  // A profile limits what a session proposes, and what it votes on.
  const scope = "activity.kind == 'CREATE_USER_TAG'";
  const { sessionProfileId } = await alice.createSessionProfile({ sessionProfileName: "tags", scope });
  const limitedKey = keyPair("limited session key");
  const limited = await alice.stampLogin({ publicKey: limitedKey.publicKey, sessionProfileId });
  const { session_type, scope: claimed } = claims(limited.session);
  const tagger = client(limitedKey);
  const tag = await tagger.createUserTag({ userTagName: "in scope", userIds: [] });
  seen.limited = {
    claims: [session_type, claimed === scope],
    inside: tag.activity.status,
    outside: await failure(() => tagger.createPrivateKeyTag({ privateKeyTagName: "out of scope", privateKeyIds: [] })),
    key: await failure(() => tagger.stampLogin({ publicKey: keyPair("unlimited").publicKey })),
  };
  await alice.deleteUserTags({ userTagIds: [tag.userTagId] });

  // A new login can end the earlier ones.
  const next = keyPair("next session key");
  await alice.stampLogin({ publicKey: next.publicKey, invalidateExisting: true });
  const { code, message } = await failure(() => client(key).getWhoami());
  seen.ended = [code, message.replace("Turnkey error 16: ", "").split(":")[0]];
  seen.next = plain((await client(next).getWhoami()).userId);
  return seen;
}
