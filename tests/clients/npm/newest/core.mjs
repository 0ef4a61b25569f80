// Signs up, signs in and signs out through the authentication proxy, as pages do, with the newest unmodified @turnkey/core.
// Prints its observations as one JSON object, which the scenario checks.
//   node --import ./newest/resolve.mjs newest/core.mjs CREDENTIALS_FILE MAIL_FOLDER ISSUER_PORT

import "./window.mjs";
import { encryptOtpCodeToBundle } from "@turnkey/crypto";
import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { startIssuer } from "../issuer.mjs";
import { nextMail } from "../mails.mjs";
import { credentials } from "../watch.mjs";

// The issuer is no server of the page, so its own requests do not follow the CORS protocol.
const issuer = await startIssuer(Number(process.argv[4]));
const { ethereum, solana } = await import("./page.mjs");
const { core, end, failure, isListed, library, proxy, signOut, signedOut, token } = await import("./kit.mjs");
const { getClientSignatureMessageForLogin } = library;

const { quorumPublicKey } = credentials;
const email = "OTP_TYPE_EMAIL";

const seen = {};
seen.config = await core.getProxyAuthConfig();
seen.params = await proxy.proxyGetWalletKitClientParams({});

async function passkeys() {
  const children = [];
  const account0 = { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path: "m/44'/60'/0'/0/0", addressFormat: "ADDRESS_FORMAT_ETHEREUM" };
  const customWallet = { walletName: "main", walletAccounts: [account0] };
  const createSubOrgParams = { userName: "pat", subOrgName: "pat's", customWallet };
  const signedUp = await core.signUpWithPasskey({ passkeyDisplayName: "pat", createSubOrgParams, captchaToken: "ignored" });
  const [wallet] = await core.fetchWallets({ walletProviders: [] });
  const [account] = wallet.accounts;
  const signature = await core.signMessage({ message: "message", walletAccount: account });
  const { publicKey: first } = await core.getSession();
  const refreshed = await core.refreshSession({ invalidateExisitng: true });
  const { publicKey: second } = await core.getSession();
  const created = await core.createWallet({ walletName: "second", accounts: ["ADDRESS_FORMAT_SOLANA"] });
  const signed = [wallet.walletName, account.address.length, signature.r.length, typeof created];
  const seen = { signed, refreshed: [first !== second, typeof refreshed.session], proofs: signedUp.appProofs };
  seen.signedUp = await signedOut(children);
  await core.loginWithPasskey();
  const { publicKey: third } = await core.getSession();
  seen.loggedIn = await signedOut(children);
  seen.same = children[0] === children[1];
  // A logout only forgets the key.
  await core.loginWithPasskey();
  seen.listed = await isListed(third);
  seen.ended = await end();
  await core.logout();
  seen.signedOut = await failure(() => core.fetchUser());
  return seen;
}

async function wallets(chain, { publicKey }) {
  const children = [];
  const [walletProvider] = await core.fetchWalletProviders(chain);
  const params = { walletProvider, createSubOrgParams: { userName: chain } };
  const actions = [];
  for (const _ of [1, 2]) {
    actions.push((await core.loginOrSignupWithWallet(params)).action);
    actions.push(await signedOut(children));
  }
  await core.loginWithWallet(params);
  actions.push(await signedOut(children));
  const again = await failure(() => core.signUpWithWallet(params));
  const found = await proxy.proxyGetAccount({ filterType: "PUBLIC_KEY", filterValue: publicKey });
  return { actions, again, same: children.every((child) => child === found.organizationId) };
}

async function codes() {
  const children = [];
  const contact = "coda@example.org";
  const pinned = await core.initOtp({ otpType: email, contact });
  const entered = { ...pinned, otpCode: (await nextMail()).secret, contact, otpType: email };
  const seen = { pinned: [await failure(() => core.verifyOtp(entered)), await failure(() => core.completeOtp(entered))] };
  const publicKey = await core.createApiKeyPair();
  const wrong = await encryptOtpCodeToBundle("000000000", pinned.otpEncryptionTargetBundle, publicKey, quorumPublicKey);
  seen.wrong = await failure(() => proxy.proxyVerifyOtpV2({ otpId: pinned.otpId, encryptedOtpBundle: wrong }));

  const first = await token(contact);
  const signUp = { verificationToken: first, contact, otpType: email, createSubOrgParams: { userName: "coda" } };
  await core.signUpWithOtp(signUp);
  seen.signedUp = await signedOut(children);
  const lookup = { filterType: "EMAIL", filterValue: contact };
  seen.found = (await proxy.proxyGetAccount({ ...lookup, verificationToken: first })).organizationId === children[0];
  seen.hidden = await failure(() => proxy.proxyGetAccount(lookup));
  seen.unstated = await failure(() => proxy.proxySignupV2({ userName: "c", userEmail: contact, verificationToken: first, apiKeys: [], authenticators: [], oauthProviders: [] }));

  const second = await token(contact);
  await core.loginWithOtp({ verificationToken: second });
  seen.loggedIn = await signedOut(children);
  seen.same = children[0] === children[1];

  const busy = "busy@example.org";
  for (const _ of [1, 2, 3]) {
    await core.initOtp({ otpType: email, contact: busy });
    await nextMail();
  }
  seen.limited = await failure(() => core.initOtp({ otpType: email, contact: busy }));
  seen.method = await failure(() => core.initOtp({ otpType: "OTP_TYPE_SMS", contact: "+12025550123" }));
  return seen;
}

const nonceOf = (publicKey) => bytesToHex(sha256(utf8ToBytes(publicKey)));

async function identity(subject, audience) {
  const publicKey = await core.createApiKeyPair();
  const oidcToken = await issuer.token({ subject, audience, nonce: nonceOf(publicKey), scope: "openid email" });
  return { publicKey, oidcToken };
}

async function oauth() {
  const children = [];
  const claims = { iss: issuer.issuer, sub: "mira", aud: "ec" };
  const createSubOrgParams = { userName: "mira", oauthProviders: [{ providerName: "second", oidcClaims: claims }] };
  const actions = [];
  for (const audience of ["rsa", "rsa", "ec"]) {
    const proof = await identity("mira", audience);
    actions.push((await core.completeOauth({ ...proof, providerName: audience, createSubOrgParams })).action);
    actions.push(await signedOut(children));
  }
  const seen = { actions, same: children.every((child) => child === children[0]) };
  const byClaims = { filterType: "OIDC_CLAIMS", filterValue: JSON.stringify(claims) };
  seen.found = (await proxy.proxyGetAccount(byClaims)).organizationId === children[0];

  // A signed-in user adds an identity, unless it is that of somebody else.
  await core.loginWithPasskey();
  const { oidcToken } = await identity("pat", "rsa");
  const providerIds = await core.addOauthProvider({ providerName: "added", oidcToken });
  seen.taken = await failure(async () => core.addOauthProvider({ providerName: "taken", ...(await identity("mira", "rsa")) }));
  seen.removed = (await core.removeOauthProviders({ providerIds })).length;

  // A verified mail address is found by a token that proves it, and is then that of the user.
  const lookup = { filterType: "EMAIL", filterValue: "pat@example.org" };
  seen.before = await proxy.proxyGetAccount({ ...lookup, oidcToken });
  seen.updated = typeof (await core.updateUserEmail({ email: lookup.filterValue, verificationToken: await token(lookup.filterValue) }));
  seen.after = (await proxy.proxyGetAccount({ ...lookup, oidcToken })).organizationId === (await core.getSession()).organizationId;
  seen.other = await failure(() => proxy.proxyGetAccount({ ...lookup, filterValue: "coda@example.org", oidcToken }));
  const unverified = await identity("unverified", "rsa");
  seen.unverified = await failure(() => proxy.proxyGetAccount({ filterType: "EMAIL", filterValue: "unverified@example.org", oidcToken: unverified.oidcToken }));
  const forged = oidcToken.replace(/\.[^.]*$/, `.${unverified.oidcToken.split(".")[2]}`);
  seen.forged = await failure(() => proxy.proxyGetAccount({ ...lookup, oidcToken: forged }));
  seen.deleted = Boolean((await core.deleteSubOrganization({ deleteWithoutExport: true })).subOrganizationUuid);
  await core.logout();
  return seen;
}

// The routes of earlier versions, which the client of the package still has.
async function earlier() {
  const seen = {};
  const contact = "erin@example.org";
  const init = { otpType: email, contact };
  const { otpId } = await proxy.proxyInitOtp(init);
  const publicKey = await core.createApiKeyPair();
  const { verificationToken } = await proxy.proxyVerifyOtp({ otpId, otpCode: (await nextMail()).secret });
  const user = { userName: "erin", userEmail: contact, apiKeys: [], authenticators: [], oauthProviders: [] };
  const signedUp = await proxy.proxySignup({ ...user, verificationToken });
  await core.storeSession({ sessionToken: (await proxy.proxyOtpLogin({ verificationToken, publicKey })).session });
  seen.codes = [(await core.getSession()).organizationId === signedUp.organizationId, await signedOut()];

  const second = await token(contact);
  const sessionPublicKey = await core.createApiKeyPair();
  const statement = getClientSignatureMessageForLogin({ verificationToken: second, sessionPublicKey });
  const signature = await core.signWithApiKey(statement);
  const clientSignature = { ...statement, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", signature };
  const login = { verificationToken: second, publicKey: sessionPublicKey, clientSignature };
  await core.storeSession({ sessionToken: (await proxy.proxyOtpLoginV2(login)).session });
  seen.stated = await signedOut();
  const { publicKey: holder, oidcToken } = await identity("mira", "rsa");
  await core.storeSession({ sessionToken: (await proxy.proxyOAuthLogin({ oidcToken, publicKey: holder })).session });
  seen.oauth = await signedOut();
  const code = { provider: "OAUTH2_PROVIDER_X", authCode: "c", redirectUri: "https://app.example", codeVerifier: "v", nonce: "n", clientId: "c" };
  seen.oauth2 = await failure(() => proxy.proxyOAuth2Authenticate(code));
  return seen;
}

try {
  seen.passkeys = await passkeys();
  seen.ethereum = await wallets("ethereum", ethereum);
  seen.solana = await wallets("solana", solana);
  seen.codes = await codes();
  seen.oauth = await oauth();
  seen.earlier = await earlier();
} finally {
  issuer.close();
}
process.stdout.write(JSON.stringify(seen));
