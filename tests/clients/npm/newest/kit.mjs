// A page that uses the newest unmodified @turnkey/core with the authentication proxy: its client, and what is seen of its
// sessions. All requests that follow the import of this file follow the CORS protocol.

import "./window.mjs";
import { createRequire } from "node:module";
import { encryptOtpCodeToBundle, verifySessionJwtSignature } from "@turnkey/crypto";
import "./page.mjs";
import { nextMail } from "../mails.mjs";
import { credentials } from "../watch.mjs";

// The CommonJS build, since the other one needs the packages of WalletConnect, which are not installed.
export const library = createRequire(import.meta.url)("@turnkey/core");
const { TurnkeyClient: Core } = library;

const { baseUrl, organizationId, quorumPublicKey } = credentials;
export const core = new Core({
  apiBaseUrl: baseUrl,
  authProxyUrl: `${baseUrl}/auth`,
  authProxyConfigId: organizationId,
  organizationId,
  passkeyConfig: { rpId: location.hostname },
  walletConfig: { features: { auth: true }, chains: { ethereum: { native: true }, solana: { native: true } } },
});
await core.init();
export const proxy = core.httpClient;

// Returns the code of an error, and its cause.
export async function failure(call) {
  try {
    return { unexpected: await call() };
  } catch (error) {
    const { message } = error.cause instanceof Error ? error.cause : error;
    return [error.code, message.split(" (Details: ")[0].replace(/[0-9a-f]{130}/g, "<key>")];
  }
}

// Returns whose session is active, as its token and a request that it stamps say, and ends it.
export async function signOut() {
  const { token, userId, organizationId: home, publicKey } = await core.getSession();
  const user = await core.fetchUser();
  const seen = {
    verified: await verifySessionJwtSignature(token, quorumPublicKey),
    child: home !== organizationId && user.userId === userId && home,
    name: user.userName,
  };
  await core.logout();
  seen.ended = [(await core.getSession()) === undefined, (await failure(() => core.signWithApiKey({ message: "m", publicKey })))[0]];
  return seen;
}

// Signs out, and returns the name of the user and whether all is as expected.
export async function signedOut(children) {
  const { child, name, verified, ended } = await signOut();
  children?.push(child);
  return [name, Boolean(child), verified, ended[0], ended[1] !== undefined];
}

// Accepts a code: the kit pins the key of the hosted service when it encrypts a code, which @turnkey/crypto does not.
export async function accept({ otpId, otpEncryptionTargetBundle }, otpCode) {
  const publicKey = await core.createApiKeyPair();
  const encryptedOtpBundle = await encryptOtpCodeToBundle(otpCode, otpEncryptionTargetBundle, publicKey, quorumPublicKey);
  const { verificationToken } = await proxy.proxyVerifyOtpV2({ otpId, encryptedOtpBundle });
  return verificationToken;
}

// Sends a code to a contact, and accepts it.
export async function token(contact, otpType = "OTP_TYPE_EMAIL") {
  const sent = await core.initOtp({ otpType, contact });
  return accept(sent, (await nextMail()).secret);
}

// Returns the API keys that the service lists for the signed-in user.
async function apiKeys() {
  const { organizationId: home, userId } = await core.getSession();
  return (await proxy.getApiKeys({ organizationId: home, userId })).apiKeys;
}

// Returns whether the service lists the key of a session.
export async function isListed(publicKey) {
  return (await apiKeys()).some(({ credential }) => credential.publicKey === publicKey);
}

// Ends the active session at the service, and returns whether its key is refused from then on.
export async function end() {
  const { organizationId: home, userId, publicKey } = await core.getSession();
  const { apiKeyId } = (await apiKeys()).find(({ credential }) => credential.publicKey === publicKey);
  await proxy.deleteApiKeys({ organizationId: home, userId, apiKeyIds: [apiKeyId] });
  return (await failure(() => proxy.getWhoami({ organizationId: home })))[0] === 16;
}
