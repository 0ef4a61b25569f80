// A certified OAuth 2.0 authorization server in place of X and Discord, on loopback, with the endpoints that describe their
// users. Prints its URL as one line of JSON, and serves until its standard input ends.
//   POST /control/code      signs a user in and returns the authorization code
//   POST /control/envelope  encrypts a client secret as the clients do
//   POST /control/bundle    decrypts an encrypted access token as the clients do
//   node oauth2_provider.mjs

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { decryptCredentialBundle, encryptOauth2ClientSecret } from "@turnkey/crypto";
import { browse, redirect } from "./issuer.mjs";

console.info = console.warn = console.error;
const { default: Provider } = await import("oidc-provider");
const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const client = (client_id, client_secret) => ({
  client_id,
  client_secret,
  redirect_uris: [redirect],
  response_types: ["code"],
  grant_types: ["authorization_code"],
  token_endpoint_auth_method: "client_secret_basic",
});
const provider = new Provider(url, {
  clients: [client("x-client", "canary+secret/%:of-x"), client("112233", "canary-secret-of-discord")],
  cookies: { keys: ["a key of this run"] },
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
});
const serve = provider.callback();

async function code({ client_id, verifier, subject }) {
  const query = new URLSearchParams({
    client_id,
    response_type: "code",
    scope: "openid",
    redirect_uri: redirect,
    state: "state",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const location = await browse(`${url}/auth?${query}`, subject);
  return { code: new URL(location).searchParams.get("code"), redirectUri: redirect };
}

async function envelope({ secret, key }) {
  return { envelope: await encryptOauth2ClientSecret(secret, key) };
}

// The clients return the plaintext in hex.
function bundle({ bundle, key }) {
  return { plain: Buffer.from(decryptCredentialBundle(bundle, key), "hex").toString() };
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

// Describes the user of an access token as X or Discord do.
async function user(request, describe) {
  const answer = await fetch(`${url}/me`, { headers: { authorization: request.headers.authorization ?? "" } });
  return [answer.status, answer.ok ? describe((await answer.json()).sub) : {}];
}

const routes = {
  "/control/code": async (request) => [200, await code(await bodyOf(request))],
  "/control/envelope": async (request) => [200, await envelope(await bodyOf(request))],
  "/control/bundle": async (request) => [200, bundle(await bodyOf(request))],
  "/x/users/me": (request) => user(request, (id) => ({ data: { id, name: "Ann", username: "ann" } })),
  "/discord/users/@me": (request) => user(request, (id) => ({ id, username: "ann" })),
};

server.on("request", async (request, response) => {
  const { pathname } = new URL(request.url, url);
  if (!routes[pathname]) return serve(request, response);
  try {
    const [status, body] = await routes[pathname](request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
process.stdout.write(`${JSON.stringify({ url })}\n`);
