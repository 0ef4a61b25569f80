// This part computes what the bytes that people signed prove, without the daemon.

const APPROVE = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
const REJECT = "ACTIVITY_TYPE_REJECT_ACTIVITY";
const WAITING = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const VOTE_LIFE_MILLIS = 24 * 60 * 60 * 1000;
const ENVELOPE = ["type", "timestampMs", "organizationId", "parameters", "generateAppProofs"];
// The kinds that change no authority and whose review in the console raises no flag of the highest level. All others, also
// those that this script does not know, are HIGH: they can move funds, give away keys or change authority, and only the
// console describes what they do.
const LOW = new Set([
  "CREATE_WALLET_ACCOUNTS",
  "DELETE_INVITATION",
  "UPDATE_WALLET_ACCOUNT_NAME",
]);
// The kinds that give new objects names or tags, with the members by which policies read these. They change no authority if
// no policy has the word. A new name for an existing object is always HIGH.
const NAMING = new Map([
  ["CREATE_PRIVATE_KEYS", ["label", "tags"]],
  ["CREATE_PRIVATE_KEY_TAG", ["tags"]],
  ["CREATE_USER_TAG", ["tags"]],
  ["CREATE_WALLET", ["label"]],
]);

// Returns the name of a kind: its type without prefix and version.
function kindOf(type) {
  return type.replace(/^ACTIVITY_TYPE_/, "").replace(/_V[0-9]+$/, "");
}

// Returns whether only the console can show what an activity of this type does. `expressions` are those of the organization,
// or null if they are not known.
function isHigh(type, expressions = null) {
  const kind = kindOf(type);
  const words = NAMING.get(kind);
  if (!words) return !LOW.has(kind);
  return expressions === null || expressions.some((text) => words.some((word) => text.includes(word)));
}

// Parses JSON that has one meaning. A doubled member, or a number that the browser cannot represent, does not survive the
// comparison of the written value with the text, in which white space and escapes do not count.
function parsed(text) {
  const value = JSON.parse(text);
  const tokens = /"(?:[^"\\]|\\.)*"|\s+/g;
  const plain = text.replace(tokens, (token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : ""));
  if (plain !== JSON.stringify(value)) throw new Error("the signed bytes can be read in more than one way");
  return value;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value) {
  if (value === undefined || value === null || value === false || value === 0) return true;
  if (typeof value === "string") return value === "" || value === "0" || value.endsWith("_UNSPECIFIED");
  return typeof value === "object" && Object.keys(value).length === 0;
}

// Returns the paths at which the daemon's intent differs from the signed parameters, as `tui/src/proof/compare.rs` does:
// the daemon writes defaults out, and a number equals its decimal string.
function differences(signed, stated, path = "") {
  const name = path.split(".").pop();
  const isExplicit = ["enabled", "isActive"].includes(name) && (signed === undefined) !== (stated === undefined);
  const isDefault = name === "curveType" && stated === "API_KEY_CURVE_P256";
  if (!isExplicit && isEmpty(signed) && (isEmpty(stated) || isDefault)) return [];
  if (isObject(signed) && isObject(stated)) {
    const names = new Set([...Object.keys(signed), ...Object.keys(stated)]);
    return [...names].flatMap((member) => differences(own(signed, member), own(stated, member), path ? `${path}.${member}` : member));
  }
  if (Array.isArray(signed) && Array.isArray(stated)) {
    if (signed.length !== stated.length) return [path];
    return signed.flatMap((item, index) => differences(item, stated[index], `${path}[${index}]`));
  }
  const isNumber = typeof signed === "number" || typeof stated === "number";
  return signed === stated || (isNumber && String(signed) === String(stated)) ? [] : [path || "parameters"];
}

function own(object, member) {
  return Object.hasOwn(object, member) ? object[member] : undefined;
}

// Returns each value of the request with its path: the type first, then the parameters, then the rest.
function fieldsOf(body) {
  const { type, parameters, ...rest } = body;
  return leaves({ type, parameters, ...rest });
}

// Returns each value in a tree with its path.
function leaves(value, path = "") {
  const isTree = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (value === undefined) return [];
  if (!isTree) return [[path, typeof value === "string" ? value : JSON.stringify(value)]];
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, `${path}[${index}]`));
  return Object.entries(value).flatMap(([name, member]) => leaves(member, path ? `${path}.${name}` : name));
}

// Returns whether a temporary key signed a vote. Such a vote is a step of an MFA policy, and no approval.
function isAttested({ scheme }) {
  return scheme === ATTESTED_ID_TOKEN || scheme === ATTESTED_VERIFICATION_TOKEN;
}

// Returns why a vote is not what the daemon states, or null. Throws if the browser cannot verify it.
async function voteError(vote, proposal, activity, organization) {
  if (!(await isSigned(vote))) return "the signature does not match the signed bytes";
  if (vote.activityId !== activity.id) return "the vote belongs to another activity";
  const body = parsed(vote.message);
  if (String(body.organizationId).toLowerCase() !== organization) return "the vote was signed for another organization";
  if (isAttested(vote) && (vote.message === proposal.message || vote.selection !== "VOTE_SELECTION_APPROVED")) {
    return "an attested stamp only proves a step of an MFA policy";
  }
  if (vote.message === proposal.message) {
    return vote.selection === "VOTE_SELECTION_APPROVED" ? null : "the proposal is shown as a rejection";
  }
  const expected = vote.selection === "VOTE_SELECTION_APPROVED" ? APPROVE : REJECT;
  if (body.type !== expected) return "the signed bytes are not this vote";
  return body.parameters?.fingerprint === proposal.fingerprint ? null : "the vote was signed for another fingerprint";
}

async function examineVote(vote, proposal, activity, organization) {
  let error;
  let signedAt = NaN;
  try {
    error = await voteError(vote, proposal, activity, organization);
    signedAt = Number(parsed(vote.message).timestampMs);
  } catch (cause) {
    error = `it cannot be verified here: ${cause.message}`;
  }
  const keys = [...(vote.user?.apiKeys ?? []), ...(vote.user?.authenticators ?? [])].map((one) => one.credential?.publicKey);
  return {
    error,
    approves: vote.selection === "VOTE_SELECTION_APPROVED",
    proposes: vote.message === proposal.message,
    isAttested: isAttested(vote),
    attested: vote.attestation?.contact ?? vote.attestation?.identity?.issuer ?? "",
    isKeyOfUser: keys.includes(vote.publicKey),
    isExpired: Date.now() - signedAt >= VOTE_LIFE_MILLIS,
    signedAt,
    message: vote.message,
    userId: vote.userId,
    name: vote.user?.userName ?? "",
    publicKey: vote.publicKey,
    scheme: vote.scheme,
  };
}

// Marks votes that cannot all count: one key belongs to one user, one signature is one vote, and a key approves once while its
// approval lasts. A user may approve with several keys, which MFA policies require.
function refuseRepeated(votes) {
  // One key has several texts: hexadecimal in both cases, and base64url whose last character has unused bits.
  const bytesOf = ({ scheme, publicKey }) => (scheme === "SIGNATURE_SCHEME_TK_WEBAUTHN" ? bytesOfBase64 : bytesOfHex)(publicKey);
  const keyOf = (vote) => (vote.error === null ? hexOf(bytesOf(vote)) : vote.publicKey);
  const userOf = (vote) => String(vote.userId).toLowerCase();
  const keys = votes.map(keyOf);
  votes.forEach((vote, index) => {
    for (const [earlier, other] of votes.slice(0, index).entries()) {
      if (keys[earlier] !== keys[index]) continue;
      const again = vote.approves && other.approves && !vote.isExpired && !other.isExpired;
      if (userOf(other) !== userOf(vote)) vote.error = other.error = "votes of several users are signed with this key";
      else if (other.message === vote.message) vote.error ??= "this signed vote is shown twice";
      else if (again) vote.error ??= "the user has already approved with this key";
    }
  });
}

// Reviews an activity: what is proven here, and the reasons for which it must not be approved here. `wanted` is the
// fingerprint or the id that the user opened.
async function review(activity, organization, wanted) {
  const checks = [];
  const check = (passes, good, bad) => checks.push({ passes, text: passes ? good : bad });
  let proposal = null;
  for (const vote of activity.votes) {
    const fingerprint = await fingerprintOf(vote.message);
    if (fingerprint === activity.fingerprint) proposal = proposal ?? { message: vote.message, fingerprint, vote };
  }
  check(proposal !== null, "The fingerprint, computed here from the signed bytes, is the one that the daemon states.", "No signed bytes have the fingerprint that the daemon states.");
  if (!proposal) return { checks, votes: [], proposal: null, isRefused: true, fields: [], activity };
  if (wanted.startsWith("sha256:")) {
    check(proposal.fingerprint === wanted, "It is the fingerprint that you opened.", "It is not the fingerprint that you opened.");
  } else {
    check(activity.id === wanted, "The daemon answered with the id that you opened.", "The daemon answered with another activity.");
  }
  let body = null;
  try {
    body = parsed(proposal.message);
    if (!isObject(body)) throw new Error("they are not an object");
  } catch (cause) {
    check(false, "", `The signed bytes cannot be shown here: ${cause.message}. Use the console.`);
  }
  if (body) {
    compareWithSigned(body, activity, organization, check);
    proposal.type = String(body.type);
  }
  const votes = [];
  for (const vote of activity.votes) votes.push(await examineVote(vote, proposal, activity, organization));
  refuseRepeated(votes);
  const wrong = votes.filter((vote) => vote.error !== null).length;
  check(wrong === 0, "Each vote is signed for this activity, verified here.", "A vote does not verify: see the votes.");
  const isRefused = checks.some((one) => !one.passes);
  return { checks, votes, proposal, isRefused, fields: body ? fieldsOf(body) : [], activity };
}

function compareWithSigned(body, activity, organization, check) {
  const isOfOrganization = String(body.organizationId).toLowerCase() === organization && activity.organizationId === organization;
  check(isOfOrganization, "It is signed for your organization.", "It is signed for another organization.");
  check(body.type === activity.type, "The type that the daemon states is the signed type.", "The daemon states another type than the signed bytes.");
  const unknown = Object.keys(body).filter((name) => !ENVELOPE.includes(name));
  check(unknown.length === 0, "The request has no unknown members.", `The request has unknown members: ${unknown.join(", ")}. Use the console.`);
  const intents = Object.values(activity.intent);
  const paths = intents.length === 1 ? differences(body.parameters ?? {}, intents[0]) : ["intent"];
  check(paths.length === 0, "The parameters that the daemon states are the signed parameters.", `The daemon states other parameters than the signed bytes: ${paths.join(", ")}.`);
}

// Returns whether an activity contains a vote that was sent: the same bytes with the signature of this stamp, which verifies.
async function isRecorded(activity, body, stamp) {
  const { signature } = parsed(Object.values(stamp)[0]);
  const isSame = (vote) => vote.scheme === "SIGNATURE_SCHEME_TK_WEBAUTHN" && parsed(vote.signature).signature === signature;
  const cast = activity.votes.find((vote) => vote.message === body && isSame(vote));
  return cast !== undefined && (await isSigned(cast));
}
