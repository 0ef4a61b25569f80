// Signs in with unusual contacts, and logs in with unusual names of session profiles. Decodes and verifies the tokens as
// browsers and the unmodified @turnkey/crypto do. Prints its observations as one JSON object.
//   node contacts.mjs CREDENTIALS_FILE MAIL_FOLDER CONTACTS_FILE

import { readFileSync } from "node:fs";
import { encryptOtpCodeToBundle, verifyOtpVerificationToken, verifySessionJwtSignature } from "@turnkey/crypto";
import { nextMail } from "./mails.mjs";
import { client, credentials, keyPair } from "./watch.mjs";

const { quorumPublicKey } = credentials;
const { contacts, names } = JSON.parse(readFileSync(process.argv[4], "utf8"));
const alice = client(credentials.rootUsers[0]);
const claims = (token) => JSON.parse(atob(token.split(".")[1]));

async function proven(contact) {
  const init = await alice.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "npm app" });
  const mail = await nextMail();
  const holder = keyPair("holder");
  const encryptedOtpBundle = await encryptOtpCodeToBundle(mail.secret, init.otpEncryptionTargetBundle, holder.publicKey, quorumPublicKey);
  const { verificationToken } = await alice.verifyOtp({ otpId: init.otpId, encryptedOtpBundle });
  const verified = await verifyOtpVerificationToken(verificationToken, quorumPublicKey);
  return [mail.to.join(), claims(verificationToken).contact, verified.contact];
}

async function named(sessionProfileName) {
  const scope = `activity.action == 'SIGN' && 2 > 1 && '${sessionProfileName.replace(/['\\]/g, "")}' != ''`;
  const { sessionProfileId } = await alice.createSessionProfile({ sessionProfileName, scope });
  const { session } = await alice.stampLogin({ publicKey: keyPair("session").publicKey, sessionProfileId });
  const verified = await verifySessionJwtSignature(session, quorumPublicKey);
  return [claims(session).session_type, claims(session).scope === scope, verified];
}

await alice.setOrganizationFeature({ name: "FEATURE_NAME_OTP_EMAIL_AUTH" });
const seen = { contacts: [], names: [] };
for (const contact of contacts) seen.contacts.push(await proven(contact));
for (const name of names) seen.names.push(await named(name));
process.stdout.write(JSON.stringify(seen));
