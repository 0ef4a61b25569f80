// Signing in with ID tokens of a real issuer, through the clients' own methods, and by attested stamps.

import { decryptCredentialBundle, generateP256KeyPair, getPublicKey, verifySessionJwtSignature } from "@turnkey/crypto";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { attested, BY_IDENTITY, nonceOf } from "./attested.mjs";
import { client, credentials, failure, keyPair, named, plain, result } from "./watch.mjs";
import { startIssuer } from "./issuer.mjs";

const { quorumPublicKey, organizationId } = credentials;

const whoami = async (key, organization) => plain((await client(key, organization).getWhoami()).userId);

export async function oidc({ alice }) {
  const seen = {};
  const issuer = await startIssuer();
  try {
    const identity = (subject, audience, nonce = "of a registration") => issuer.token({ subject, audience, nonce });
    const user = {
      userName: "mira",
      apiKeys: [],
      authenticators: [],
      userTags: [],
      oauthProviders: [{ providerName: "rsa", oidcToken: await identity("mira", "rsa") }],
    };
    const { userIds } = await alice.createUsers({ users: [user] });
    const userId = named("mira", userIds[0]);
    const more = [{ providerName: "ec", oidcToken: await identity("mira", "ec") }];
    const added = await alice.createOauthProviders({ userId, oauthProviders: more });
    named("ec provider", added.providerIds[0]);
    seen.added = result(added);
    const { oauthProviders } = await alice.getOauthProviders({ userId });
    seen.providers = oauthProviders.map(({ issuer: iss, audience, subject }) => [iss === issuer.issuer, audience, subject]);

    // Log in with RS256 and with ES256.
    for (const audience of ["rsa", "ec"]) {
      const session = keyPair(`${audience} session key`);
      const oidcToken = await identity("mira", audience, nonceOf(session.publicKey));
      const login = await alice.oauthLogin({ oidcToken, publicKey: session.publicKey });
      seen[audience] = [await verifySessionJwtSignature(login.session, quorumPublicKey), await whoami(session)];
    }
    const target = generateP256KeyPair();
    const oidcToken = await identity("mira", "rsa", nonceOf(target.publicKeyUncompressed));
    const bundle = await alice.oauth({ oidcToken, targetPublicKey: target.publicKeyUncompressed });
    const privateKey = decryptCredentialBundle(bundle.credentialBundle, target.privateKey);
    const publicKey = bytesToHex(getPublicKey(hexToBytes(privateKey), true));
    seen.bundle = await whoami({ privateKey, publicKey });

    // The key of the token is that of the login.
    const other = keyPair("other key");
    seen.otherKey = await failure(() => alice.oauthLogin({ oidcToken, publicKey: other.publicKey }));
    const nobody = await identity("nobody", "rsa", nonceOf(other.publicKey));
    seen.nobody = await failure(() => alice.oauthLogin({ oidcToken: nobody, publicKey: other.publicKey }));
    const [header, claims, signature] = nobody.split(".");
    const forged = Buffer.from(Buffer.from(claims, "base64url").toString().replace("nobody", "mira")).toString("base64url");
    seen.forged = await failure(() => alice.oauthLogin({ oidcToken: [header, forged, signature].join("."), publicKey: other.publicKey }));

    // A sub-organization is found by the identity, and its user logs in at the parent.
    const rootUser = { userName: "nia", apiKeys: [], authenticators: [], oauthProviders: [{ providerName: "own", oidcToken: await identity("nia", "ec") }] };
    const child = await alice.createSubOrganization({ subOrganizationName: "nia", rootQuorumThreshold: 1, rootUsers: [rootUser] });
    const childId = named("child of nia", child.subOrganizationId);
    const found = await alice.getSubOrgIds({ filterType: "OIDC_TOKEN", filterValue: await identity("nia", "ec") });
    seen.found = plain(found.organizationIds);
    const key = keyPair("attested key");
    const proof = await identity("nia", "ec", nonceOf(key.publicKey));
    const login = { type: "ACTIVITY_TYPE_STAMP_LOGIN", timestampMs: Date.now().toString(), organizationId, parameters: { publicKey: key.publicKey } };
    const { activity } = await attested(key, BY_IDENTITY, proof, "submit/stamp_login", login);
    seen.attested = [plain(activity.organizationId), activity.status, activity.votes[0].scheme];
    seen.attestedWhoami = (await client(key, childId).getWhoami()).username;
    // The parent logs the user in at the sub-organization.
    const session = keyPair("session of nia");
    const nia = await identity("nia", "ec", nonceOf(session.publicKey));
    await alice.oauthLogin({ organizationId: childId, oidcToken: nia, publicKey: session.publicKey });
    seen.child = (await client(session, childId).getWhoami()).username;
    const refused = await attested(key, BY_IDENTITY, proof, "query/list_users", { organizationId: childId });
    seen.attestedQuery = refused.message;
    await client(key, childId).deleteSubOrganization({ organizationId: childId, deleteWithoutExport: true });
    seen.leaked = JSON.stringify(await alice.getActivities({})).includes(proof.split(".")[2]);
    await alice.deleteUsers({ userIds: [userId] });
  } finally {
    issuer.close();
  }
  return seen;
}
