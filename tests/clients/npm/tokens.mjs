// Decodes and verifies tokens that the calling program signed, as browsers and the unmodified @turnkey/crypto do. Prints
// its observations as one JSON object.
//   node tokens.mjs COUNT FILE
// Every token is decoded. The signatures of the first COUNT tokens are verified, which takes milliseconds each.

import { readFileSync } from "node:fs";
import { verifyOtpVerificationToken, verifySessionJwtSignature } from "@turnkey/crypto";

const [count, file] = process.argv.slice(2);
const { publicKey, tokens } = JSON.parse(readFileSync(file, "utf8"));
// Number of failures that are reported in full.
const MAX_FAILURES = 10;

// Decodes with plain base64, which knows neither - nor _.
const claims = (token) => JSON.parse(atob(token.split(".")[1]));

function same(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

function decode({ text, verification, session }) {
  same(claims(verification).contact, text, "contact");
  same(claims(session).session_type, text, "session type");
  same(claims(session).scope, text, "scope");
}

async function verify({ text, verification, session }) {
  const verified = await verifyOtpVerificationToken(verification, publicKey);
  same(verified.contact, text, "verified contact");
  same(await verifySessionJwtSignature(session, publicKey), true, "signature of the session");
}

const seen = { decoded: 0, verified: 0, failures: [] };
for (const token of tokens) {
  try {
    decode(token);
    seen.decoded += 1;
    if (seen.verified >= count) continue;
    await verify(token);
    seen.verified += 1;
  } catch (error) {
    if (seen.failures.length < MAX_FAILURES) seen.failures.push(`${JSON.stringify(token)}: ${error.message}`);
  }
}
// The signature of one token does not verify another.
const [first, second] = tokens;
const mixed = (one, other) => [...one.split(".").slice(0, 2), other.split(".")[2]].join(".");
seen.mixed = [
  await verifyOtpVerificationToken(mixed(first.verification, second.verification), publicKey).then(() => true, () => false),
  await verifySessionJwtSignature(mixed(first.session, second.session), publicKey).catch(() => false),
];
process.stdout.write(JSON.stringify(seen));
