// Signs up and signs in with codes of X and Discord through the authentication proxy, with the newest unmodified
// @turnkey/core. Prints its observations as one JSON object, which the scenario checks.
//   node --import ./newest/resolve.mjs newest/core_oauth2.mjs CREDENTIALS_FILE LOGINS_FILE

import { readFileSync } from "node:fs";
import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { core, proxy, signedOut } from "./kit.mjs";

const children = [];
const actions = [];
for (const login of JSON.parse(readFileSync(process.argv[3], "utf8"))) {
  const publicKey = await core.createApiKeyPair();
  const nonce = bytesToHex(sha256(utf8ToBytes(publicKey)));
  const { oidcToken } = await proxy.proxyOAuth2Authenticate({ ...login, nonce });
  const { action } = await core.completeOauth({ oidcToken, publicKey, providerName: login.provider, createSubOrgParams: { userName: "ann" } });
  actions.push([action, await signedOut(children)]);
}
const same = children.slice(1).map((child, index) => child === children[index]);
process.stdout.write(JSON.stringify({ actions, same }));
