// This part is the page on which an invited person accepts the invitation.

// Maximum length of each of the two names in that of a passkey.
const NAME_LENGTH = 30;

// What exists already, so that a second attempt after an error continues instead of starting again.
const accepted = { userId: "", authenticator: null, body: "", isUser: false };

function readInvitation() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  // The key must not stay in the address bar or in the history of the browser.
  history.replaceState(null, "", location.pathname);
  const text = (name) => fragment.get(name) ?? "";
  const [organizationId, invitationId, publicKey, privateKey] = ["organization", "invitation", "publicKey", "privateKey"].map((name) => text(name).toLowerCase());
  const isWhole = UUID.test(organizationId) && UUID.test(invitationId) && /^0[23][0-9a-f]{64}$/.test(publicKey) && /^[0-9a-f]{64}$/.test(privateKey);
  if (!isWhole) return null;
  const [organizationName, sender, userName] = ["organizationName", "sender", "userName"].map(text);
  return { organizationId, invitationId, publicKey, privateKey, organizationName, sender, userName };
}

// Returns the name under which browsers offer the new passkey beside those for other organizations.
function passkeyName({ organizationName, userName }) {
  const cut = (text) => {
    const letters = Array.from(clean(text));
    return letters.length > NAME_LENGTH ? `${letters.slice(0, NAME_LENGTH - 1).join("")}…` : letters.join("");
  };
  return organizationName ? `${cut(userName) || "Passkey"} at ${cut(organizationName)}` : cut(userName) || "Passkey";
}

// Fails like the acceptance if the invitation cannot be accepted. A passkey that was made for nothing would stay on the
// device, and would be offered at each sign-in.
async function checkInvitation({ organizationId, invitationId, publicKey, key }) {
  const body = JSON.stringify({ organizationId, invitationId });
  await post("query/get_invitation_status", body, { "X-Stamp": await keyStamp(key, publicKey, body) });
}

async function acceptInvitation(invitation, authenticatorParameters) {
  if (!accepted.body) {
    const parameters = { invitationId: invitation.invitationId, userId: accepted.userId, authenticator: authenticatorParameters };
    accepted.body = requestBody("ACTIVITY_TYPE_ACCEPT_INVITATION_V2", invitation.organizationId, parameters);
  }
  const { activity } = await submit("ACCEPT_INVITATION", accepted.body, {
    "X-Stamp": await keyStamp(invitation.key, invitation.publicKey, accepted.body),
  });
  requireCompleted(activity, "The invitation was not accepted");
  accepted.isUser = true;
}

function requireCompleted(activity, what) {
  if (activity.status === "ACTIVITY_STATUS_COMPLETED") return;
  const reason = activity.failure?.message ?? activity.status;
  throw new Error(`${what}. The daemon reports: ${reason}`);
}

async function acceptWithPasskey(invitation, relyingPartyId) {
  const name = byId("passkey-name").value.trim() || "Passkey";
  if (!accepted.authenticator) {
    await checkInvitation(invitation);
    accepted.authenticator = await newPasskey(relyingPartyId, accepted.userId, name);
  }
  await acceptInvitation(invitation, accepted.authenticator);
  finish(invitation, true);
}

async function acceptWithKey(invitation, relyingPartyId) {
  const publicKey = byId("public-key").value.trim().toLowerCase();
  pointOf(publicKey);
  const apiKeyName = byId("key-name").value.trim() || "API key";
  if (!accepted.authenticator) {
    await checkInvitation(invitation);
    accepted.authenticator = await temporaryAuthenticator(relyingPartyId);
  }
  const { parameters, stamp } = accepted.authenticator;
  const { organizationId } = invitation;
  await acceptInvitation(invitation, parameters);
  const userId = accepted.userId;
  const send = async (type, members) => {
    const body = requestBody(type, organizationId, { userId, ...members });
    const { activity } = await submit(type, body, await stamp(body));
    requireCompleted(activity, "You are a user now, but without the API key");
  };
  const apiKeys = [{ apiKeyName, publicKey, curveType: "API_KEY_CURVE_P256" }];
  await send("ACTIVITY_TYPE_CREATE_API_KEYS_V2", { apiKeys });
  const query = JSON.stringify({ organizationId, userId });
  const { authenticators } = await post("query/get_authenticators", query, await stamp(query));
  await send("ACTIVITY_TYPE_DELETE_AUTHENTICATORS", { authenticatorIds: authenticators.map((one) => one.authenticatorId) });
  finish(invitation, false);
}

function finish(invitation, hasPasskey) {
  invitation.key = null;
  byId("user-id").textContent = accepted.userId;
  byId("done-organization").textContent = invitation.organizationId;
  byId("next-passkey").hidden = !hasPasskey;
  byId("next-key").hidden = hasPasskey;
  byId("to-approve").href = `approve#organization=${invitation.organizationId}`;
  report("good", "The invitation is accepted.");
  show("done");
}

// Returns how an invitation ended that can no longer be accepted, or null.
function endOf(error) {
  const [, end] = /invitation has (been accepted|been revoked|expired)/.exec(error.message) ?? [];
  return { "been accepted": "was used", "been revoked": "was withdrawn", expired: "has expired" }[end] ?? null;
}

function showEnd(end) {
  byId("ended-title").textContent = `This invitation ${end}`;
  byId("ended-used").hidden = end !== "was used";
  // The invitation ended after it was checked.
  byId("ended-passkey").hidden = !accepted.authenticator?.attestation;
  show("ended");
}

function choose() {
  const isKey = byId("use-key").checked;
  byId("passkey-fields").hidden = isKey;
  byId("key-fields").hidden = !isKey;
}

async function onAccept(invitation, relyingPartyId) {
  const choices = [...document.querySelectorAll("input[name=credential]")];
  // The other kind of credential cannot continue this attempt.
  for (const choice of choices) choice.disabled = true;
  try {
    await (byId("use-key").checked ? acceptWithKey : acceptWithPasskey)(invitation, relyingPartyId);
  } catch (error) {
    if (!accepted.authenticator) for (const choice of choices) choice.disabled = false;
    const end = accepted.isUser ? null : endOf(error);
    if (end) {
      showEnd(end);
      await forgetPasskey(relyingPartyId, accepted.authenticator?.attestation?.credentialId);
    }
    throw error;
  }
}

async function startAccept() {
  // Before anything that can fail or take time, so that the key never stays in the address bar.
  const invitation = readInvitation();
  if (!invitation) {
    start("no-link");
    return;
  }
  const { relyingPartyId } = await settings();
  invitation.key = await importSecret(invitation.publicKey, invitation.privateKey);
  delete invitation.privateKey;
  accepted.userId = crypto.randomUUID();
  for (const [id, name] of [["organization-name", "organizationName"], ["sender", "sender"]]) {
    byId(id).textContent = clean(invitation[name]) || "not named in the link";
    byId(`${id}-note`).hidden = !isMixed(invitation[name]) && !imitatesLatin(invitation[name]);
  }
  byId("passkey-name").value = passkeyName(invitation);
  byId("organization").textContent = invitation.organizationId;
  byId("invitation").textContent = invitation.invitationId;
  for (const choice of document.querySelectorAll("input[name=credential]")) choice.addEventListener("change", choose);
  choose();
  byId("accept-form").addEventListener("submit", (event) => {
    event.preventDefault();
    act("Accepting the invitation…", () => onAccept(invitation, relyingPartyId));
  });
  start("accept");
}
