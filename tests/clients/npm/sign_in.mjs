// Signing in by codes and mail, through the clients' own methods and the unmodified helpers of @turnkey/crypto, which
// know the key that signs bundles and tokens as the quorum key.

import { readFileSync } from "node:fs";
import {
  decryptCredentialBundle,
  encryptOtpCodeToBundle,
  generateP256KeyPair,
  getPublicKey,
  verifyOtpVerificationToken,
  verifySessionJwtSignature,
} from "@turnkey/crypto";
import { p256 } from "@noble/curves/p256";
import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import { nextMail as anyMail } from "./mails.mjs";
import { client, credentials, failure, keyPair, named, plain, result } from "./watch.mjs";

const { quorumPublicKey } = credentials;
const { witnesses } = JSON.parse(readFileSync(new URL("../../../assets/vectors/webauthn/witness.json", import.meta.url), "utf8"));
const [, witness] = witnesses;
const contact = "signer@example.org";

// Waits for the next mail, which must be to this receiver.
async function nextMail(receiver = contact) {
  const mail = await anyMail();
  if (mail.to.join() !== receiver) throw new Error(`unexpected mail to ${mail.to}`);
  return mail;
}

const signature = (key, tokenId, publicKey) => signed(key, { login: { publicKey }, tokenId, type: "USAGE_TYPE_LOGIN" });

function signed(key, statement) {
  const message = JSON.stringify(statement);
  const signed = p256.sign(sha256(utf8ToBytes(message)), hexToBytes(key.privateKey)).toCompactHex();
  return { publicKey: key.publicKey, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", message, signature: signed };
}

const keyOf = (privateKey, name) => ({ privateKey, publicKey: named(name, bytesToHex(getPublicKey(hexToBytes(privateKey), true))) });

async function code({ alice }) {
  const seen = {};
  const otp = { otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" };
  const init = await alice.initOtp({ ...otp, alphanumeric: false, otpLength: 6 });
  named("code id", init.otpId);
  named("code bundle", init.otpEncryptionTargetBundle);
  seen.init = result(init);
  const mail = await nextMail();
  seen.mail = [mail.subject, /^\d{6}$/.test(mail.secret), mail.html.includes(mail.secret)];
  const holder = keyPair("token key");
  const encrypt = (text) => encryptOtpCodeToBundle(text, init.otpEncryptionTargetBundle, holder.publicKey, quorumPublicKey);
  const verify = async (text) => alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle: await encrypt(text) });
  seen.wrong = await failure(() => verify("wrong"));
  const { verificationToken } = await verify(mail.secret);
  const { id, exp, ...claims } = await verifyOtpVerificationToken(verificationToken, quorumPublicKey);
  seen.claims = plain(claims);
  seen.seconds = Math.round((Number(exp) - Date.now()) / 60_000) * 60;
  seen.again = await failure(() => verify(mail.secret));
  const ofVendor = await failure(() => encryptOtpCodeToBundle("1", init.otpEncryptionTargetBundle, holder.publicKey));
  seen.ofVendor = ofVendor.message.split(" key ")[0];

  const session = keyPair("code session key");
  const logIn = (by) => alice.otpLogin({ verificationToken, publicKey: session.publicKey, clientSignature: by });
  seen.unsigned = await failure(() => logIn(signature(session, id, session.publicKey)));
  const login = await logIn(signature(holder, id, session.publicKey));
  seen.verified = await verifySessionJwtSignature(login.session, quorumPublicKey);
  seen.whoami = plain((await client(session).getWhoami()).userId);
  const next = keyPair("other session key");
  const repeat = () => alice.otpLogin({ verificationToken, publicKey: next.publicKey, clientSignature: signature(holder, id, next.publicKey) });
  seen.used = await failure(repeat);
  return seen;
}

// Signs up with a token: the new sub-organization is found by the proven contact, and the same token opens a session there.
async function signUp({ alice }) {
  const seen = {};
  const init = await alice.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" });
  const mail = await nextMail();
  const holder = keyPair("sign-up token key");
  const bundle = await encryptOtpCodeToBundle(mail.secret, init.otpEncryptionTargetBundle, holder.publicKey, quorumPublicKey);
  const { verificationToken } = await alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle: bundle });
  const { id: tokenId } = await verifyOtpVerificationToken(verificationToken, quorumPublicKey);
  const found = () => alice.getVerifiedSubOrgIds({ filterType: "EMAIL", filterValue: contact });
  seen.before = plain(await found());
  const credentials = {
    apiKeys: [{ apiKeyName: "first", publicKey: holder.publicKey, curveType: "API_KEY_CURVE_P256" }],
    authenticators: [],
    oauthProviders: [],
  };
  const create = (email, apiKeys = credentials.apiKeys) =>
    alice.createSubOrganization({
      subOrganizationName: "signed up",
      rootUsers: [{ userName: "signer", userEmail: contact, ...credentials }],
      rootQuorumThreshold: 1,
      verificationToken,
      clientSignature: signed(holder, { signupV2: { ...credentials, apiKeys, email }, tokenId, type: "USAGE_TYPE_SIGNUP" }),
    });
  seen.otherContact = await failure(() => create("other@example.org"));
  seen.noKey = await failure(() => create(contact, []));
  const created = await create(contact);
  const organizationId = named("signed-up organization", created.subOrganizationId);
  named("signed-up user", created.rootUserIds[0]);
  seen.created = result(created);
  seen.found = plain(await found());
  seen.used = await failure(() => create(contact));
  const session = keyPair("signed-up session key");
  const clientSignature = signature(holder, tokenId, session.publicKey);
  const login = await alice.otpLogin({ organizationId, verificationToken, publicKey: session.publicKey, clientSignature });
  seen.verified = await verifySessionJwtSignature(login.session, quorumPublicKey);
  const own = client(session, organizationId);
  seen.whoami = plain(await own.getWhoami());
  seen.deleted = result(await own.deleteSubOrganization({ organizationId, deleteWithoutExport: true }));
  return seen;
}

async function bundle({ alice }) {
  const seen = {};
  const target = generateP256KeyPair();
  const targetPublicKey = target.publicKeyUncompressed;
  const init = await alice.initOtpAuth({ otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" });
  named("auth code id", init.otpId);
  seen.init = result(init);
  const { secret } = await nextMail();
  const auth = await alice.otpAuth({ otpId: init.otpId, otpCode: secret.toLowerCase(), targetPublicKey });
  named("auth key id", auth.apiKeyId);
  named("auth bundle", auth.credentialBundle);
  seen.auth = result(auth);
  const key = keyOf(decryptCredentialBundle(auth.credentialBundle, target.privateKey), "auth key");
  seen.whoami = plain((await client(key).getWhoami()).userId);

  const emailed = await alice.emailAuth({ email: contact, targetPublicKey, emailCustomization: { appName: "npm app" } });
  named("mailed key id", emailed.apiKeyId);
  seen.mailed = result(emailed);
  const mail = await nextMail();
  const mailed = keyOf(decryptCredentialBundle(mail.secret, target.privateKey), "mailed key");
  seen.mailedSubject = mail.subject;
  seen.mailedWhoami = plain((await client(mailed).getWhoami()).userId);
  return seen;
}

async function recovery({ alice }, userId) {
  const seen = {};
  const target = generateP256KeyPair();
  const init = { email: contact, targetPublicKey: target.publicKeyUncompressed, emailCustomization: { appName: "npm app" } };
  seen.init = result(await alice.initUserEmailRecovery(init));
  const mail = await nextMail();
  seen.subject = mail.subject;
  const recovering = client(keyOf(decryptCredentialBundle(mail.secret, target.privateKey), "recovery key"));
  seen.whoami = plain((await recovering.getWhoami()).userId);
  seen.denied = await failure(() => recovering.createUserTag({ userTagName: "recovered", userIds: [] }));
  const { challenge, ...answered } = witness.registration;
  const attestation = { credentialId: witness.credentialId, ...answered, transports: ["AUTHENTICATOR_TRANSPORT_USB"] };
  const recover = { userId, authenticator: { authenticatorName: "new phone", challenge, attestation } };
  const recovered = await recovering.recoverUser(recover);
  named("recovered passkey", recovered.authenticatorId[0]);
  seen.recovered = result(recovered);
  seen.ended = (await failure(() => recovering.getWhoami())).code;
  return seen;
}

// Signs up, as the clients' guides do it: the application looks for a sub-organization with this contact, creates one for
// the user, who has no key yet, and opens a session in it with a code that the parent organization sent.
async function signUpByLogin({ alice }) {
  const seen = {};
  const contact = "newcomer@example.org";
  const filter = { filterType: "EMAIL", filterValue: contact };
  const found = async () => plain([(await alice.getVerifiedSubOrgIds(filter)).organizationIds, (await alice.getSubOrgIds(filter)).organizationIds]);
  seen.before = await found();
  const create = await alice.createSubOrganization({
    subOrganizationName: "signed up",
    rootUsers: [{ userName: "signed up", userEmail: contact, apiKeys: [], authenticators: [], oauthProviders: [] }],
    rootQuorumThreshold: 1,
  });
  const organizationId = named("signed up", create.subOrganizationId);
  named("signed up root", create.rootUserIds[0]);
  seen.create = result(create);
  seen.unverified = await found();
  const init = await alice.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" });
  const { secret } = await nextMail(contact);
  const holder = keyPair("newcomer token key");
  const encryptedOtpBundle = await encryptOtpCodeToBundle(secret, init.otpEncryptionTargetBundle, holder.publicKey, quorumPublicKey);
  const { verificationToken } = await alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle });
  const { id } = await verifyOtpVerificationToken(verificationToken, quorumPublicKey);
  const session = keyPair("newcomer session key");
  const clientSignature = signature(holder, id, session.publicKey);
  await alice.otpLogin({ organizationId, verificationToken, publicKey: session.publicKey, clientSignature });
  const user = client(session, organizationId);
  seen.whoami = plain(await user.getWhoami());
  seen.verified = await found();
  const wallet = await user.createWallet({ walletName: "signed up", accounts: [] });
  seen.wallet = wallet.activity.status;
  await user.deleteSubOrganization({ deleteWithoutExport: true });
  return seen;
}

export async function signIn(cast) {
  const { alice } = cast;
  const seen = {};
  const features = ["OTP_EMAIL_AUTH", "EMAIL_AUTH", "EMAIL_RECOVERY"].map((name) => `FEATURE_NAME_${name}`);
  seen.off = await failure(() => alice.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" }));
  for (const name of features) await alice.setOrganizationFeature({ name });
  const user = { userName: "signer", userEmail: contact, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
  const { userIds } = await alice.createUsers({ users: [user] });
  const userId = named("signer", userIds[0]);
  seen.code = await code(cast);
  seen.signUp = await signUp(cast);
  seen.bundle = await bundle(cast);
  seen.recovery = await recovery(cast, userId);
  seen.signUpByLogin = await signUpByLogin(cast);
  const { emailEvents } = await alice.listEmailEvents({ email: contact, eventType: "Send" });
  seen.events = emailEvents.map(({ toAddress, eventType }) => `${eventType} ${toAddress}`);
  const { apiKeys } = await alice.getApiKeys({ userId });
  seen.types = apiKeys.map((each) => each.credential.type);
  await alice.deleteUsers({ userIds: [userId] });
  for (const name of features) await alice.removeOrganizationFeature({ name });
  return seen;
}
