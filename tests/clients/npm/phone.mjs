// Signs up and signs in with a phone number, through the clients' own methods and the unmodified helpers of
// @turnkey/crypto. Prints its observations as one JSON object, which the scenario checks.
//   node phone.mjs CREDENTIALS_FILE FOLDER_OF_MESSAGES

import { encryptOtpCodeToBundle, verifyOtpVerificationToken, verifySessionJwtSignature } from "@turnkey/crypto";
import { p256 } from "@noble/curves/p256";
import { sha256 } from "@noble/hashes/sha2";
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import { nextMail } from "./mails.mjs";
import { client, credentials, keyPair, named, plain } from "./watch.mjs";

const { quorumPublicKey, rootUsers } = credentials;
const contact = "+491701234567";
const alice = client(rootUsers[0]);
const seen = {};

function signed(key, statement) {
  const message = JSON.stringify(statement);
  const signature = p256.sign(sha256(utf8ToBytes(message)), hexToBytes(key.privateKey)).toCompactHex();
  return { publicKey: key.publicKey, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", message, signature };
}

await alice.setOrganizationFeature({ name: "FEATURE_NAME_SMS_AUTH" });
const found = async () => plain((await alice.getVerifiedSubOrgIds({ filterType: "PHONE_NUMBER", filterValue: contact })).organizationIds);
seen.before = await found();
const init = await alice.initOtp({ otpType: "OTP_TYPE_SMS", contact, appName: "npm app", smsCustomization: { template: "Code: {{.OtpCode}}" } });
const { secret } = await nextMail();
const holder = keyPair("holder");
const encryptedOtpBundle = await encryptOtpCodeToBundle(secret, init.otpEncryptionTargetBundle, holder.publicKey, quorumPublicKey);
const { verificationToken } = await alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle });
const { id: tokenId, contact: proven, verification_type: type } = await verifyOtpVerificationToken(verificationToken, quorumPublicKey);
seen.token = [proven, type];
const user = {
  apiKeys: [{ apiKeyName: "first", publicKey: holder.publicKey, curveType: "API_KEY_CURVE_P256" }],
  authenticators: [],
  oauthProviders: [],
};
const created = await alice.createSubOrganization({
  subOrganizationName: "by phone",
  rootUsers: [{ userName: "by phone", userPhoneNumber: contact, ...user }],
  rootQuorumThreshold: 1,
  verificationToken,
  clientSignature: signed(holder, { signupV2: { ...user, phoneNumber: contact }, tokenId, type: "USAGE_TYPE_SIGNUP" }),
});
const organizationId = named("by phone", created.subOrganizationId);
named("user", created.rootUserIds[0]);
seen.found = await found();
const session = keyPair("session");
const clientSignature = signed(holder, { login: { publicKey: session.publicKey }, tokenId, type: "USAGE_TYPE_LOGIN" });
const login = await alice.otpLogin({ organizationId, verificationToken, publicKey: session.publicKey, clientSignature });
seen.verified = await verifySessionJwtSignature(login.session, quorumPublicKey);
seen.whoami = plain((await client(session, organizationId).getWhoami()).userId);
process.stdout.write(JSON.stringify(seen));
