// Signs up and signs in with a phone number through the authentication proxy, with the newest unmodified @turnkey/core.
// Prints its observations as one JSON object, which the scenario checks.
//   node --import ./newest/resolve.mjs newest/core_phone.mjs CREDENTIALS_FILE FOLDER_OF_MESSAGES

import { nextMail } from "../mails.mjs";
import { accept, core, failure, proxy, signedOut, token } from "./kit.mjs";

const contact = "+491701234567";
const otpType = "OTP_TYPE_SMS";
const children = [];
const seen = {};

const sent = await core.initOtp({ otpType, contact });
const { secret: otpCode } = await nextMail();
const entered = { ...sent, otpCode, contact, otpType };
seen.pinned = [await failure(() => core.verifyOtp(entered)), await failure(() => core.completeOtp(entered))];

// The code was not sent by these calls, so it can still be used.
const first = await accept(sent, otpCode);
await core.signUpWithOtp({ verificationToken: first, contact, otpType, createSubOrgParams: { userName: "sam" } });
seen.signedUp = await signedOut(children);
const lookup = { filterType: "PHONE_NUMBER", filterValue: contact };
seen.found = (await proxy.proxyGetAccount({ ...lookup, verificationToken: first })).organizationId === children[0];
seen.hidden = await failure(() => proxy.proxyGetAccount(lookup));
seen.again = await failure(() => accept(sent, otpCode));

const second = await token(contact, otpType);
await core.loginWithOtp({ verificationToken: second });
seen.user = (await core.fetchUser()).userPhoneNumber;
seen.loggedIn = await signedOut(children);
seen.same = children[0] === children[1];
process.stdout.write(JSON.stringify(seen));
