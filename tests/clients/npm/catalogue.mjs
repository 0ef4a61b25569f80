// Calls every offered operation that the clients have a method for, through that method. Prints its observations as one
// JSON object, which the scenario checks.
//   node catalogue.mjs CREDENTIALS_FILE MAIL_FOLDER

import { client, coverage, credentials, http, named } from "./watch.mjs";
import { credentialsOfUsers, userTags, users } from "./users.mjs";
import { importedKeys, importedWallets, keyTags, privateKeys, secrets, wallets } from "./keys.mjs";
import { policies, votes } from "./policies.mjs";
import { children, contracts, invitations, organization } from "./organization.mjs";
import { sessions } from "./sessions.mjs";
import { signIn } from "./sign_in.mjs";
import { mfa } from "./mfa.mjs";
import { oidc } from "./oidc.mjs";
import { oauth2 } from "./oauth2.mjs";
import { allowlists, endpoints, profiles } from "./settings.mjs";

const [first, second] = credentials.rootUsers;
named("organization", credentials.organizationId);
named("first", first.userId);
named("second", second.userId);
named("first key", first.publicKey);
named("second key", second.publicKey);
const cast = { alice: client(first), bob: client(second), raw: http(first), first, second };

const parts = {
  users,
  userTags,
  credentialsOfUsers,
  privateKeys,
  keyTags,
  wallets,
  importedWallets,
  importedKeys,
  secrets,
  policies,
  endpoints,
  profiles,
  sessions,
  signIn,
  oidc,
  oauth2,
  mfa,
  contracts,
  invitations,
  children,
  allowlists,
  votes,
  organization,
};
const seen = {};
for (const [name, part] of Object.entries(parts)) {
  seen[name] = await part(cast);
}
seen.coverage = await coverage();
process.stdout.write(JSON.stringify(seen));
