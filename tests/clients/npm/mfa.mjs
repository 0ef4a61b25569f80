// MFA policies, through the clients' own methods, and second factors without a password: a code and an ID token.

import { encryptOtpCodeToBundle } from "@turnkey/crypto";
import { attested, BY_CODE, BY_IDENTITY, nonceOf } from "./attested.mjs";
import { startIssuer } from "./issuer.mjs";
import { nextMail } from "./mails.mjs";
import { bareHttp, client, credentials, keyPair, named, plain, result } from "./watch.mjs";

const { organizationId, quorumPublicKey } = credentials;
const contact = "factor@example.org";
const feature = "FEATURE_NAME_OTP_EMAIL_AUTH";

export async function mfa({ alice, second: { userId } }) {
  const seen = {};
  const policy = {
    userId,
    mfaPolicyName: "npm",
    condition: "activity.kind == 'DELETE_WALLETS'",
    requiredAuthenticationMethods: [{ any: [{ type: "AUTHENTICATION_TYPE_API_KEY" }] }],
    order: 1,
    notes: "noted",
  };
  const create = await alice.createMfaPolicy(policy);
  const mfaPolicyId = named("mfa policy", create.mfaPolicyId);
  seen.create = result(create);
  seen.get = plain(await alice.getMfaPolicy({ userId, mfaPolicyId }));
  seen.update = result(await alice.updateMfaPolicy({ ...policy, mfaPolicyId, mfaPolicyName: "npm renamed" }));
  const { mfaPolicies } = await alice.getMfaPolicies({ userId });
  seen.names = mfaPolicies.map((each) => each.mfaPolicyName);
  seen.status = plain(await alice.getMfaStatus({ activityId: create.activity.id }));
  seen.delete = result(await alice.deleteMfaPolicy({ userId, mfaPolicyId }));
  seen.left = plain(await alice.getMfaPolicies({ userId }));
  seen.factors = await factors(alice);
  return seen;
}

// Returns a verification token of the contact, bound to a key.
async function code(alice, key) {
  const init = await alice.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" });
  const { secret } = await nextMail();
  const bundle = await encryptOtpCodeToBundle(secret, init.otpEncryptionTargetBundle, key.publicKey, quorumPublicKey);
  const { verificationToken } = await alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle: bundle });
  return verificationToken;
}

async function proposeWallet(own, walletName) {
  const type = "ACTIVITY_TYPE_CREATE_WALLET";
  const parameters = { walletName, accounts: [] };
  const { activity } = await own.createWallet({ type, timestampMs: String(Date.now()), organizationId, parameters });
  return activity;
}

// Approves with an attested stamp. Returns the status of the activity, and what the stored vote states.
async function approve(key, scheme, token, { fingerprint }) {
  const body = { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", timestampMs: String(Date.now()), organizationId, parameters: { fingerprint } };
  const { activity, message } = await attested(key, scheme, token, "submit/approve_activity", body);
  if (!activity) return message;
  const { scheme: recorded, attestation } = activity.votes.at(-1);
  return [activity.status, recorded, plain(attestation)];
}

async function factors(alice) {
  const seen = {};
  const issuer = await startIssuer();
  try {
    const identity = (nonce) => issuer.token({ subject: "factor", audience: "ec", nonce });
    await alice.setOrganizationFeature({ name: feature });
    const first = keyPair("factor key");
    const user = {
      userName: "factor",
      userTags: [],
      authenticators: [],
      apiKeys: [{ apiKeyName: "first", publicKey: first.publicKey, curveType: "API_KEY_CURVE_P256" }],
      oauthProviders: [{ providerName: "ec", oidcToken: await identity("of a registration") }],
    };
    const { userIds } = await alice.createUsers({ users: [user] });
    const userId = named("factor", userIds[0]);
    named("issuer", issuer.issuer);
    const { oauthProviders } = await alice.getOauthProviders({ userId });
    named("factor provider", oauthProviders[0].providerId);
    const verificationToken = await code(alice, keyPair("contact key"));
    await alice.updateUserEmail({ userId, userEmail: contact, verificationToken });
    const consensus = `approvers.any(user, user.id == '${userId}')`;
    const policy = { policyName: "wallets of factor", effect: "EFFECT_ALLOW", consensus, condition: "activity.kind == 'CREATE_WALLET'", notes: "" };
    const { policyId } = await alice.createPolicy(policy);
    const any = ["EMAIL_OTP", "OAUTH"].map((each) => ({ type: `AUTHENTICATION_TYPE_${each}` }));
    const steps = [{ any: [{ type: "AUTHENTICATION_TYPE_API_KEY" }] }, { any }];
    const created = await alice.createMfaPolicy({
      userId,
      mfaPolicyName: "second factor",
      condition: "true",
      requiredAuthenticationMethods: steps,
      order: 0,
    });
    named("second factor", created.mfaPolicyId);
    const own = bareHttp(first);
    const byCode = await proposeWallet(own, "by code");
    seen.proposed = byCode.status;
    const { mfaStatuses } = await client(first).getMfaStatus({ activityId: byCode.id });
    seen.status = plain(mfaStatuses.map(({ satisfied, satisfiedMethods }) => [satisfied, satisfiedMethods]));
    const key = keyPair("second factor key");
    const token = await code(alice, key);
    seen.code = await approve(key, BY_CODE, token, byCode);
    const byIdentity = await proposeWallet(own, "by identity");
    seen.codeAgain = await approve(key, BY_CODE, token, byIdentity);
    const proof = await identity(nonceOf(key.publicKey));
    const other = keyPair("key of nobody");
    seen.otherKey = await approve(other, BY_IDENTITY, proof, byIdentity);
    seen.identity = await approve(key, BY_IDENTITY, proof, byIdentity);
    const { wallets } = await alice.getWallets({});
    const names = wallets.map((each) => each.walletName).filter((name) => name.startsWith("by "));
    seen.wallets = names.sort();
    const recorded = JSON.stringify(await alice.getActivities({}));
    seen.leaked = [token, proof].some((each) => recorded.includes(each.split(".")[2]));
    const ids = wallets.filter((each) => names.includes(each.walletName)).map((each) => each.walletId);
    await alice.deleteWallets({ walletIds: ids, deleteWithoutExport: true });
    await alice.deletePolicy({ policyId });
    await alice.deleteUsers({ userIds: [userId] });
    await alice.removeOrganizationFeature({ name: feature });
  } finally {
    issuer.close();
  }
  return seen;
}
