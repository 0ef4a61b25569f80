// Credentials of OAuth 2.0 providers, through the clients' own methods. The daemon of the catalogue issues no ID tokens.

import { encryptOauth2ClientSecret } from "@turnkey/crypto";
import { credentials, failure, named, plain, result } from "./watch.mjs";

export async function oauth2({ alice }) {
  const seen = {};
  const answer = await fetch(`${credentials.baseUrl}/public/v1/discovery/quorum-key`);
  const { quorumPublicKeys } = await answer.json();
  const encrypted = async (secret) =>
    named(`encrypted ${secret}`, await encryptOauth2ClientSecret(secret, quorumPublicKeys.slice(0, 130)));
  const application = { provider: "OAUTH2_PROVIDER_X", clientId: "client" };

  const create = await alice.createOauth2Credential({ ...application, encryptedClientSecret: await encrypted("first") });
  const oauth2CredentialId = named("credential", create.oauth2CredentialId);
  seen.create = result(create);
  seen.list = plain(await alice.listOauth2Credentials({}));
  const update = { oauth2CredentialId, provider: "OAUTH2_PROVIDER_DISCORD", clientId: "112233" };
  seen.update = result(await alice.updateOauth2Credential({ ...update, encryptedClientSecret: await encrypted("second") }));
  seen.get = plain(await alice.getOauth2Credential({ oauth2CredentialId }));

  // Without a key, the function encrypts to the key of the hosted service.
  const elsewhere = await encryptOauth2ClientSecret("third");
  seen.pinned = await failure(() => alice.createOauth2Credential({ ...application, encryptedClientSecret: elsewhere }));
  const code = { authCode: "code", redirectUri: "https://app.example/callback", codeVerifier: "verifier", nonce: "nonce" };
  seen.authenticate = await failure(() => alice.oauth2Authenticate({ oauth2CredentialId, ...code }));
  seen.delete = result(await alice.deleteOauth2Credential({ oauth2CredentialId }));
  seen.left = plain(await alice.listOauth2Credentials({}));
  return seen;
}
