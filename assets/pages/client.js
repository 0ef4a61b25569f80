// This part accesses the page, the API and the authenticator. Text is shown as text only, never as markup.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PROMPT_MILLIS = 120_000;
const TRANSPORTS = { ble: "BLE", internal: "INTERNAL", nfc: "NFC", usb: "USB", hybrid: "HYBRID" };

function byId(id) {
  return document.getElementById(id);
}

// Creates an element with cleaned text.
function element(name, text = "", className = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = clean(text);
  return made;
}

// Shows a message, which screen readers announce. `kind` is `progress`, `good` or `bad`.
function report(kind, text) {
  const place = byId(kind === "bad" ? "error" : "status");
  byId("status").textContent = "";
  byId("error").textContent = "";
  place.className = `message ${kind}`;
  place.textContent = clean(text);
}

// Shows one section and moves the focus to its heading.
function show(id) {
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.id !== id;
  byId(id).querySelector("h2").focus();
}

// Shows the first section, and removes the message that the page is loading.
function start(id) {
  report("progress", "");
  show(id);
}

// Runs an action of the user with the buttons switched off, and reports its error.
async function act(text, action) {
  const focused = document.activeElement;
  const buttons = [...document.querySelectorAll("button")].filter((button) => !button.disabled);
  for (const button of buttons) button.disabled = true;
  report("progress", text);
  try {
    await action();
  } catch (error) {
    report("bad", describe(error));
  } finally {
    for (const button of buttons) button.disabled = false;
    // A button that is switched off loses the focus.
    if (document.activeElement === document.body && focused.isConnected) focused.focus();
  }
}

function describe(error) {
  if (error.name === "NotAllowedError") return "The passkey was not used: the prompt was closed, timed out, or has no passkey for this site.";
  if (error.name === "InvalidStateError") return "This authenticator already has a passkey for this invitation.";
  if (error.name === "SecurityError") return "The browser does not allow passkeys of this service on this address. Report this to the operator.";
  if (/^The daemon reports: credential ID could not be found/.test(error.message)) {
    return "This passkey is not registered in this organization. Check the id of the organization, or choose another passkey. If you do not need this one elsewhere, remove it from your device. If you have no other one, you need a new invitation.";
  }
  return error.message;
}

// An error that the daemon reported.
class ReportedError extends Error {
  constructor(status, message) {
    super(`The daemon reports: ${message}`);
    this.status = status;
  }
}

// No answer of the daemon arrived: what was sent may have been carried out.
class NoAnswerError extends Error {}

async function settings() {
  const answer = await fetch("settings.json", { credentials: "omit", redirect: "error" });
  if (!answer.ok) throw new Error("the settings of the pages cannot be read");
  return answer.json();
}

// Sends a body to the API. If no answer arrives, the same bytes are sent once more; they count once.
async function post(path, body, headers) {
  const send = () =>
    fetch(`../public/v1/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    });
  let answer;
  try {
    answer = await send();
  } catch {
    answer = await send().catch(() => {
      throw new NoAnswerError("No answer arrived. Check the connection, and try again.");
    });
  }
  const value = await answer.json().catch(() => null);
  if (typeof value !== "object" || value === null) throw new NoAnswerError(`An answer arrived that is not one of the daemon (status ${answer.status}). Try again later.`);
  if (!answer.ok) throw new ReportedError(answer.status, value.message ?? `status ${answer.status}`);
  return value;
}

// Returns the body of a submit request.
function requestBody(type, organizationId, parameters) {
  return JSON.stringify({ type, timestampMs: String(Date.now()), organizationId, parameters });
}

function submit(type, body, headers) {
  return post(`submit/${kindOf(type).toLowerCase()}`, body, headers);
}

function requirePasskeys() {
  if (!window.isSecureContext || !window.PublicKeyCredential || !crypto.subtle) {
    throw new Error("This browser has no passkeys on this page. The page must be loaded with https.");
  }
}

// Requests an assertion of a passkey over a body. Returns the header and the id of the passkey.
async function passkeyStamp(relyingPartyId, body, credentialId) {
  requirePasskeys();
  const allowCredentials = credentialId ? [{ type: "public-key", id: bytesOfBase64(credentialId) }] : [];
  const publicKey = {
    challenge: await challengeOf(body),
    rpId: relyingPartyId,
    userVerification: "required",
    timeout: PROMPT_MILLIS,
    allowCredentials,
  };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  const text = (buffer) => base64Of(new Uint8Array(buffer));
  const header = JSON.stringify({
    credentialId: text(rawId),
    authenticatorData: text(response.authenticatorData),
    clientDataJson: text(response.clientDataJSON),
    signature: text(response.signature),
  });
  return { header: { "X-Stamp-WebAuthn": header }, credentialId: text(rawId) };
}

// Creates a passkey, and returns it as parameters of the API.
async function newPasskey(relyingPartyId, userId, name) {
  requirePasskeys();
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const publicKey = {
    rp: { id: relyingPartyId, name: "Quorate" },
    user: { id: utf8(userId), name, displayName: name },
    challenge,
    pubKeyCredParams: [-7, -257].map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
    timeout: PROMPT_MILLIS,
  };
  const { rawId, response } = await navigator.credentials.create({ publicKey });
  const transports = response.getTransports().filter((one) => Object.hasOwn(TRANSPORTS, one));
  return authenticator(name, challenge, new Uint8Array(rawId), response.clientDataJSON, response.attestationObject, transports);
}

// Reports a passkey that is registered nowhere, so that the browser no longer offers it. Not all browsers can do that.
async function forgetPasskey(rpId, credentialId) {
  if (!credentialId || !window.PublicKeyCredential?.signalUnknownCredential) return;
  await PublicKeyCredential.signalUnknownCredential({ rpId, credentialId }).catch(() => {});
}

function authenticator(name, challenge, id, clientData, attestationObject, transports) {
  return {
    authenticatorName: name,
    challenge: base64Of(challenge),
    attestation: {
      credentialId: base64Of(id),
      clientDataJson: base64Of(new Uint8Array(clientData)),
      attestationObject: base64Of(new Uint8Array(attestationObject)),
      transports: transports.map((one) => `AUTHENTICATOR_TRANSPORT_${TRANSPORTS[one]}`),
    },
  };
}

// Creates an authenticator that exists in the memory of this page only. An invitation can be accepted with an
// authenticator only; this one makes way for the API key of a user who has no passkey. Its key cannot be exported.
async function temporaryAuthenticator(relyingPartyId) {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(P256, false, ["sign", "verify"]);
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const cose = coseP256({ x: point.slice(1, 33), y: point.slice(33) });
  const [challenge, id] = [0, 1].map(() => crypto.getRandomValues(new Uint8Array(32)));
  const relyingParty = await sha256(utf8(relyingPartyId));
  const clientData = (type, text) => utf8(JSON.stringify({ type, challenge: text, origin: location.origin, crossOrigin: false }));
  // User present (1), with a credential (0x40): Web Authentication §6.1 and §6.5.1.
  const data = concat(relyingParty, [0x41], new Uint8Array(4), new Uint8Array(16), [0, id.length], id, cose);
  const object = concat([0xa3, 0x63], utf8("fmt"), [0x64], utf8("none"), [0x67], utf8("attStmt"), [0xa0, 0x68], utf8("authData"), [0x58, data.length], data);
  const stamp = async (body) => {
    const assertionData = concat(relyingParty, [1], new Uint8Array(4));
    const client = clientData("webauthn.get", base64Of(await challengeOf(body)));
    const signature = await signP256(privateKey, concat(assertionData, await sha256(client)));
    const [credentialId, authenticatorData, clientDataJson] = [id, assertionData, client].map(base64Of);
    return { "X-Stamp-WebAuthn": JSON.stringify({ credentialId, authenticatorData, clientDataJson, signature: base64Of(signature) }) };
  };
  const created = clientData("webauthn.create", base64Of(challenge));
  return { parameters: authenticator("temporary", challenge, id, created, object, []), stamp };
}
