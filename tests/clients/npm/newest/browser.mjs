// Signs in as browsers do, with the newest unmodified @turnkey/core, @turnkey/sdk-browser and @turnkey/webauthn-stamper.
// Prints its observations as one JSON object, which the scenario checks.
//   node --import ./newest/resolve.mjs newest/browser.mjs CREDENTIALS_FILE MAIL_FOLDER

import "./window.mjs";
import { ApiKeyStamper, SignatureFormat } from "@turnkey/api-key-stamper";
import { TurnkeyClient as Core, decodeVerificationToken, getClientSignatureMessageForLogin } from "@turnkey/core";
import {
  decryptCredentialBundle,
  encryptOtpCodeToBundle,
  generateP256KeyPair,
  getPublicKey,
  verifySessionJwtSignature,
} from "@turnkey/crypto";
import { TurnkeyClient, getWebAuthnAttestation } from "@turnkey/http";
import { TurnkeyBrowserClient } from "@turnkey/sdk-browser";
import { WebauthnStamper } from "@turnkey/webauthn-stamper";
import { randomBytes } from "node:crypto";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { nextMail } from "../mails.mjs";
import { client, credentials, failure, keyPair, named, plain } from "../watch.mjs";

const { baseUrl, organizationId, quorumPublicKey, rootUsers } = credentials;
const rpId = location.hostname;
const contact = "browser@example.org";
const alice = client(rootUsers[0]);

// A user who has a passkey logs in. The session stamps from then on, with a key that never leaves the browser.
async function core(userId) {
  const browser = new Core({ apiBaseUrl: baseUrl, organizationId, passkeyConfig: { rpId } });
  await browser.init();
  const { encodedChallenge: challenge, attestation } = await browser.createPasskey({ name: "browser" });
  await alice.createAuthenticators({ userId, authenticators: [{ authenticatorName: "browser", challenge, attestation }] });
  const { sessionToken, credentialId } = await browser.loginWithPasskey();
  const session = await browser.getSession();
  return {
    credential: credentialId === attestation.credentialId,
    verified: await verifySessionJwtSignature(sessionToken, quorumPublicKey),
    session: plain([session.userId, session.organizationId, session.sessionType]),
    whoami: plain((await browser.httpClient.getWhoami()).userId),
  };
}

// A user who lost their passkeys registers another one, which stamps from then on.
async function recovery(userId) {
  const target = generateP256KeyPair();
  const emailCustomization = { appName: "browser app" };
  await alice.initUserEmailRecovery({ email: contact, targetPublicKey: target.publicKeyUncompressed, emailCustomization });
  const privateKey = decryptCredentialBundle((await nextMail()).secret, target.privateKey);
  const publicKey = bytesToHex(getPublicKey(hexToBytes(privateKey), true));
  const challenge = randomBytes(32);
  const user = { id: randomBytes(16), name: contact, displayName: "browser" };
  const pubKeyCredParams = [{ type: "public-key", alg: -7 }];
  const attestation = await getWebAuthnAttestation({ publicKey: { rp: { id: rpId, name: "app" }, challenge, pubKeyCredParams, user } });
  const authenticator = { authenticatorName: "recovered", challenge: challenge.toString("base64url"), attestation };
  await client({ publicKey, privateKey }).recoverUser({ userId, authenticator });
  const recovered = new TurnkeyClient({ baseUrl }, new WebauthnStamper({ rpId }));
  const stamped = await recovered.getWhoami({ organizationId });
  const session = await recovered.createReadOnlySession({
    type: "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION",
    timestampMs: String(Date.now()),
    organizationId,
    parameters: {},
  });
  return { whoami: plain(stamped.userId), session: session.activity.result.createReadOnlySessionResult.session };
}

// A code opens a session, with the message that @turnkey/core has signed.
async function code() {
  const init = await alice.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "browser app" });
  const holder = keyPair("holder");
  const bundle = await encryptOtpCodeToBundle((await nextMail()).secret, init.otpEncryptionTargetBundle, holder.publicKey, quorumPublicKey);
  const { verificationToken } = await alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle: bundle });
  const session = keyPair("session");
  const signed = getClientSignatureMessageForLogin({ verificationToken, sessionPublicKey: session.publicKey });
  const stamper = new ApiKeyStamper({ apiPublicKey: holder.publicKey, apiPrivateKey: holder.privateKey });
  const signature = await stamper.sign(signed.message, SignatureFormat.Raw);
  const clientSignature = { ...signed, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", signature };
  await alice.otpLogin({ verificationToken, publicKey: session.publicKey, clientSignature });
  return { contact: decodeVerificationToken(verificationToken).contact, whoami: plain((await client(session).getWhoami()).userId) };
}

const features = ["OTP_EMAIL_AUTH", "EMAIL_RECOVERY"].map((name) => `FEATURE_NAME_${name}`);
for (const name of features) await alice.setOrganizationFeature({ name });
const user = { userName: "browser", userEmail: contact, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
const { userIds } = await alice.createUsers({ users: [user] });
const userId = named("user", userIds[0]);
named("organization", organizationId);
const seen = { core: await core(userId), code: await code() };
const { session, ...recovered } = await recovery(userId);
seen.recovery = recovered;
const readOnly = new TurnkeyBrowserClient({ apiBaseUrl: baseUrl, organizationId, readOnlySession: session });
seen.readOnly = {
  whoami: plain((await readOnly.getWhoami()).userId),
  submitted: await failure(() => readOnly.createUserTag({ userTagName: "submitted", userIds: [] })),
};
process.stdout.write(JSON.stringify(seen));
