// A certified OpenID Connect issuer on loopback, and the browser that a user signs in with. Tokens come from the
// implicit flow, with the nonce of the request.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";

export const redirect = "https://app.example/callback";
// Scenarios may replace the function by one that acts as a page.
const { fetch } = globalThis;

function signingKey(type, alg, options) {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: "jwk" }), kid: `${alg} key`, alg, use: "sig" };
}

// The address of each user, which the issuer has verified unless the name states otherwise.
const claims = (sub) => ({ sub, email: `${sub}@example.org`, email_verified: !sub.startsWith("unverified") });

// Starts an issuer whose clients `rsa` and `ec` get tokens with RS256 and ES256. Port 0 is any free port.
export async function startIssuer(port = 0) {
  // The library warns on standard output that it is not set up for production. Programs print their observations there.
  console.info = console.warn = console.error;
  const { default: Provider } = await import("oidc-provider");
  const server = createServer();
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const client = (client_id, id_token_signed_response_alg) => ({
    client_id,
    id_token_signed_response_alg,
    redirect_uris: [redirect],
    response_types: ["id_token"],
    grant_types: ["implicit"],
    token_endpoint_auth_method: "none",
  });
  const provider = new Provider(issuer, {
    clients: [client("rsa", "RS256"), client("ec", "ES256")],
    responseTypes: ["id_token"],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => claims(sub) }),
    cookies: { keys: ["a key of this run"] },
    features: { devInteractions: { enabled: true } },
    jwks: { keys: [signingKey("rsa", "RS256", { modulusLength: 2048 }), signingKey("ec", "ES256", { namedCurve: "P-256" })] },
  });
  server.on("request", provider.callback());
  const close = () => server.close();
  return { issuer, token: (user) => token(issuer, user), close };
}

// Signs a user in, and returns the token.
async function token(issuer, { subject, audience, nonce, scope = "openid" }) {
  const query = new URLSearchParams({
    client_id: audience,
    response_type: "id_token",
    scope,
    redirect_uri: redirect,
    nonce,
    state: "state",
  });
  const location = await browse(`${issuer}/auth?${query}`, subject);
  const found = new URLSearchParams(new URL(location).hash.slice(1));
  if (!found.get("id_token")) throw new Error(`no token: ${location}`);
  return found.get("id_token");
}

// Follows the pages of an issuer from this URL and signs a user in, as a browser does. Returns where the issuer sends
// the browser back to.
export async function browse(start, subject) {
  const cookies = new Map();
  let url = start;
  let form;
  for (let step = 0; step < 12; step += 1) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const options = form
      ? { method: "POST", body: form, headers: { cookie, "content-type": "application/x-www-form-urlencoded" } }
      : { headers: { cookie } };
    const answer = await fetch(url, { ...options, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(";");
      const at = pair.indexOf("=");
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    form = undefined;
    const location = answer.headers.get("location");
    if (location?.startsWith(redirect)) return location;
    if (location) {
      url = new URL(location, url).href;
      continue;
    }
    const page = await answer.text();
    const prompt = page.match(/name="prompt" value="(\w+)"/)?.[1];
    if (!prompt) throw new Error(`unexpected page ${answer.status} at ${url}: ${page.slice(0, 500)}`);
    form = new URLSearchParams(prompt === "login" ? { prompt, login: subject, password: "any" } : { prompt }).toString();
  }
  throw new Error("the issuer does not stop redirecting");
}
