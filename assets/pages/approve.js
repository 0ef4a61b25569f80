// This part is the page on which a member with a passkey reviews activities and votes.

const PAGE_LENGTH = 100;
// Number of pages of waiting activities in which a fingerprint is searched.
const MAX_PAGES = 100;
// Greatest time that a date can represent (ECMA-262 §21.4.1.1).
const MAX_MILLIS = 8.64e15;

// What the page knows while it is open. Nothing is stored in the browser.
const member = { organizationId: "", relyingPartyId: "", allowHigh: false, session: "", credentialId: "", name: "", wanted: "", shown: null, isHigh: true, sent: [] };

async function signIn() {
  const body = requestBody("ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", member.organizationId, {});
  const { header, credentialId } = await passkeyStamp(member.relyingPartyId, body);
  const { activity } = await submit("CREATE_READ_ONLY_SESSION", body, header);
  requireCompleted(activity, "No session was opened");
  const { session, username, userId } = activity.result.createReadOnlySessionResult;
  Object.assign(member, { session, credentialId, name: `${username} (${userId})` });
  byId("member").textContent = clean(member.name);
  history.replaceState(null, "", `#${fragment()}`);
}

function fragment() {
  return `organization=${member.organizationId}${member.wanted ? `&activity=${member.wanted}` : ""}`;
}

// Sends a query with the read-only session.
async function query(name, members) {
  try {
    return await post(`query/${name}`, JSON.stringify({ organizationId: member.organizationId, ...members }), { "X-Session": member.session });
  } catch (error) {
    if (error.status === 401) signOut();
    throw error;
  }
}

function signOut() {
  for (const id of ["waiting", "member", "kind", "fields", "fingerprint", "bytes", "checks", "votes", "reported"]) byId(id).replaceChildren();
  Object.assign(member, { session: "", credentialId: "", shown: null, isHigh: true, sent: [] });
  show("sign-in");
}

async function listWaiting() {
  const { activities } = await waitingPage();
  activities.sort((one, other) => Number(other.canApprove) - Number(one.canApprove));
  const list = byId("waiting");
  list.replaceChildren();
  for (const activity of activities) {
    const button = element("button", titleOf(activity.type));
    button.type = "button";
    button.append(element("span", `${activity.canApprove ? "You can approve" : "Your approval would not count"} · ${when(activity.createdAt?.seconds * 1000)} · …${activity.fingerprint.slice(-8)}`));
    button.addEventListener("click", () => act("Reading the activity…", () => openActivity(activity.id)));
    list.append(document.createElement("li"));
    list.lastChild.append(button);
  }
  byId("none-waiting").hidden = activities.length > 0;
  member.wanted = "";
  history.replaceState(null, "", `#${fragment()}`);
  const count = activities.length < PAGE_LENGTH ? String(activities.length) : `The newest ${PAGE_LENGTH}`;
  report("good", activities.length === 1 ? "1 activity waits for votes." : `${count} activities wait for votes.`);
  show("inbox");
}

// Returns a page of the activities that wait for votes, newest first.
function waitingPage(after) {
  const paginationOptions = { limit: String(PAGE_LENGTH), ...(after && { after }) };
  return query("list_activities", { filterByStatus: [WAITING], paginationOptions });
}

function titleOf(type) {
  const words = kindOf(type).replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function when(millis) {
  return Math.abs(millis) <= MAX_MILLIS ? `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC` : "unknown time";
}

// Opens an activity by its id, or by its fingerprint if it waits for votes.
async function openActivity(wanted) {
  const text = wanted.trim().toLowerCase();
  let id = text;
  if (/^(sha256:)?[0-9a-f]{64}$/.test(text)) {
    member.wanted = text.startsWith("sha256:") ? text : `sha256:${text}`;
    id = await idOf(member.wanted);
  } else if (UUID.test(text)) {
    member.wanted = text;
  } else {
    throw new Error("Enter an activity id, or a fingerprint of 64 hexadecimal digits.");
  }
  const { activity } = await query("get_activity", { activityId: id });
  history.replaceState(null, "", `#${fragment()}`);
  await showActivity(activity);
}

async function idOf(fingerprint) {
  let after;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { activities } = await waitingPage(after);
    const match = activities.find((activity) => activity.fingerprint === fingerprint);
    if (match) return match.id;
    if (activities.length < PAGE_LENGTH) break;
    after = activities.at(-1).id;
  }
  throw new Error("No waiting activity has this fingerprint. Use its id.");
}

// Returns the expressions that decide in the organization, as the daemon reports them, or null if it does not.
async function expressions() {
  try {
    const [{ policies }, { users }, { sessionProfiles }] = await Promise.all(["list_policies", "list_users", "get_session_profiles"].map((name) => query(name, {})));
    const mfa = users.flatMap((user) => user.mfaPolicies ?? []);
    const texts = [...policies.flatMap((one) => [one.condition, one.consensus]), ...mfa.map((one) => one.condition), ...sessionProfiles.map((one) => one.scope)];
    return texts.map((text) => text ?? "");
  } catch (error) {
    if (error.status === 401) throw error;
    return null;
  }
}

async function showActivity(activity) {
  member.shown = null;
  for (const id of ["approve", "reject", "check"]) byId(id).hidden = true;
  const { configs } = await query("get_organization_configs", {});
  const found = await review(activity, member.organizationId, member.wanted);
  const type = found.proposal?.type ?? "";
  member.isHigh = NAMING.has(kindOf(type)) ? isHigh(type, await expressions()) : isHigh(type);
  member.shown = found;
  byId("kind").textContent = clean(found.proposal?.type ? titleOf(found.proposal.type) : "activity without readable bytes");
  byId("fingerprint").textContent = found.proposal?.fingerprint.slice(7).replace(/.{8}(?=.)/g, "$& ") ?? "none";
  byId("bytes").textContent = clean(found.proposal?.message ?? "");
  fill("fields", found.fields);
  showChecks(found);
  showVotes(found.votes);
  const proposer = found.votes.find((vote) => vote.proposes);
  const isSignedHere = proposer?.error === null;
  byId("signed-title").textContent = isSignedHere ? "Signed by the proposer" : "Stated by the daemon as signed: NOT verified";
  byId("signed-card").classList.toggle("failed", !isSignedHere);
  byId("checks-card").classList.toggle("failed", found.isRefused);
  byId("votes-card").classList.toggle("failed", found.votes.some((vote) => vote.error !== null));
  fill("reported", [
    ["status", activity.status.replace("ACTIVITY_STATUS_", "").replaceAll("_", " ").toLowerCase()],
    ["proposer", proposer ? `${proposer.name} (${proposer.userId})` : "unknown"],
    ["submitted", when(activity.createdAt.seconds * 1000)],
    ["you can approve", activity.canApprove ? "yes" : "no"],
    ["you can reject", activity.canReject ? "yes" : "no"],
    ["root quorum", `${configs.quorum.threshold} of ${configs.quorum.userIds.length} members`],
    ...(activity.failure ? [["failure", activity.failure.message]] : []),
    ...leaves(activity.result).map(([path, value]) => [`result.${path}`, value]).filter(([, value]) => value !== "{}"),
  ]);
  offerVote(found);
  report(found.isRefused ? "bad" : "good", found.isRefused ? "Do not approve: what the daemon states is not what was signed." : "Everything that this page can verify is verified.");
  show("review");
}

// Fills a table with rows of a name and a value.
function fill(id, rows) {
  const lines = rows.map(([name, value]) => {
    const line = document.createElement("tr");
    const heading = element("th");
    // Long paths break at their full stops.
    for (const part of clean(name).split(/(?<=\.)/)) heading.append(part, document.createElement("wbr"));
    heading.scope = "row";
    line.append(heading, element("td", value));
    if (clean(value) !== String(value) || clean(name) !== String(name)) line.lastChild.append(element("span", "contains invisible characters, shown as <U+…>", "note"));
    if (isMixed(value)) line.lastChild.append(element("span", "mixes letters of several scripts", "note"));
    else if (imitatesLatin(value)) line.lastChild.append(element("span", "looks Latin, but its letters are of another script", "note"));
    return line;
  });
  byId(id).replaceChildren(...lines);
}

function showChecks({ checks }) {
  const lines = checks.map(({ passes, text }) => {
    const line = element("li", "", passes ? "good" : "bad");
    line.append(element("strong", passes ? "Verified. " : "Failed. "), element("span", text));
    return line;
  });
  byId("checks").replaceChildren(...lines);
}

function showVotes(votes) {
  const lines = votes.map((vote) => {
    const line = element("li", "", vote.error === null ? "good" : "bad");
    const step = vote.isAttested ? "Step of an MFA policy, no approval" : "Approval";
    const choice = vote.proposes ? "Proposal" : vote.approves ? step : "Rejection";
    const mark = vote.error === null ? `${choice}, signature verified. ` : `${choice}, not valid: ${vote.error}. `;
    line.append(element("strong", mark), element("span", `Signed ${when(vote.signedAt)} with the key …${vote.publicKey.slice(-8)}.`));
    const key = vote.isAttested ? `, to whom a token of ${vote.attested} attested this temporary key` : vote.isKeyOfUser ? "" : ", who does not have this key now";
    const owner = `Reported by the daemon: ${vote.name || "a deleted user"} (${vote.userId})${key}.`;
    line.append(element("span", owner, "reported"));
    if (vote.isExpired) line.append(element("span", "Older than 24 hours: it does not count anymore.", "note"));
    return line;
  });
  byId("votes").replaceChildren(...lines);
}

// Shows the buttons, or why there are none.
function offerVote({ isRefused, proposal, activity }) {
  const high = member.isHigh;
  const isWaiting = activity.status === WAITING;
  const canApprove = !isRefused && isWaiting && activity.canApprove && (!high || member.allowHigh);
  const canReject = !isRefused && isWaiting && activity.canReject;
  let reason = "";
  if (isRefused) reason = "No vote is possible here, because a check failed. Show this page to the operator, and use the console.";
  else if (!isWaiting) reason = "This activity does not wait for votes.";
  else if (!canApprove && high && !member.allowHigh) reason = `Approve this in the console, quorate: ${whyHigh(proposal.type)} This page cannot show what they do.`;
  else if (!activity.canApprove) reason = "The daemon reports that your approval would not count now.";
  byId("vote-reason").textContent = reason;
  byId("vote-reason").hidden = reason === "";
  byId("approve").hidden = !canApprove;
  byId("reject").hidden = !canReject;
  byId("high").hidden = !(canApprove && high);
  byId("typed").value = "";
}

function whyHigh(type) {
  const isNaming = NAMING.has(kindOf(type));
  return isNaming
    ? "policies of your organization read names or tags, so activities of this kind can change authority."
    : "activities of this kind can move funds, give away keys or change authority.";
}

async function vote(approves) {
  const { proposal } = member.shown;
  if (approves && member.isHigh && byId("typed").value.trim().toLowerCase() !== proposal.fingerprint.slice(-8)) {
    byId("typed").focus();
    throw new Error("Type the last eight characters of the fingerprint.");
  }
  const type = approves ? APPROVE : REJECT;
  // The fingerprint is the one that this page computed from the signed bytes.
  const body = requestBody(type, member.organizationId, { fingerprint: proposal.fingerprint });
  const { header } = await passkeyStamp(member.relyingPartyId, body, member.credentialId);
  const { id } = member.shown.activity;
  member.sent.push({ id, approves, body, header });
  let error = null;
  try {
    await submit(type, body, header);
  } catch (failed) {
    error = failed;
  }
  await showOutcome(id, error);
}

// Reads an activity again after a vote was sent, and shows whether it contains the vote. `error` is why no confirmation of
// the vote arrived. Until the activity is read, no further vote is offered: the first one may have been executed.
async function showOutcome(id, error) {
  const sent = member.sent.filter((one) => one.id === id);
  const name = nameOf(sent.at(-1));
  for (const button of ["approve", "reject", "high"]) byId(button).hidden = true;
  let recorded = null;
  try {
    const { activity } = await query("get_activity", { activityId: id });
    for (const one of sent) if (await isRecorded(activity, one.body, one.header)) recorded = one;
    if (recorded || error) await showActivity(activity);
  } catch (failed) {
    byId("check").hidden = false;
    byId("vote-reason").textContent = `This page does not know whether your ${name} was recorded.`;
    byId("vote-reason").hidden = false;
    throw new Error(`Your ${name} was sent and may have been recorded, but the activity cannot be read now. ${describe(failed)}`);
  }
  if (!recorded && !error) throw new Error("The daemon does not show your vote in the activity. Do not rely on it, and inform the operator.");
  // The reason is shown already.
  if (member.shown.isRefused) return;
  if (recorded) {
    report("good", `The daemon shows your ${nameOf(recorded)}, with your signature${error ? ", although no confirmation of it arrived" : ""}.`);
    return;
  }
  const cause = error instanceof NoAnswerError ? `No confirmation of your ${name} arrived.` : describe(error);
  throw new Error(`${cause} The activity was read again and does not show your ${name}. You may vote again. If the first vote arrives late, it still counts.`);
}

function nameOf({ approves }) {
  return approves ? "approval" : "rejection";
}

async function startApprove() {
  const { relyingPartyId, allowHigh } = await settings();
  const parameters = new URLSearchParams(location.hash.slice(1));
  Object.assign(member, { relyingPartyId, allowHigh: allowHigh === true, wanted: parameters.get("fingerprint") ?? parameters.get("activity") ?? "" });
  byId("organization-id").value = parameters.get("organization") ?? "";
  const onSubmit = (id, text, action) =>
    byId(id).addEventListener("submit", (event) => {
      event.preventDefault();
      act(text, action);
    });
  onSubmit("sign-in-form", "Use your passkey to sign in…", async () => {
    member.organizationId = byId("organization-id").value.trim().toLowerCase();
    if (!UUID.test(member.organizationId)) throw new Error("Enter the id of your organization.");
    await signIn();
    await (member.wanted ? openActivity(member.wanted) : listWaiting());
  });
  onSubmit("open-form", "Reading the activity…", () => openActivity(byId("wanted").value));
  byId("back").addEventListener("click", () => act("Reading the activities…", listWaiting));
  byId("refresh").addEventListener("click", () => act("Reading the activities…", listWaiting));
  byId("approve").addEventListener("click", () => act("Use your passkey to approve…", () => vote(true)));
  byId("check").addEventListener("click", () => act("Reading the activity…", () => showOutcome(member.sent.at(-1).id, new NoAnswerError())));
  byId("reject").addEventListener("click", () => act("Use your passkey to reject…", () => vote(false)));
  for (const button of document.querySelectorAll(".sign-out")) button.addEventListener("click", signOut);
  start("sign-in");
}

// A link that is opened in this tab changes the fragment only. The page must read it.
addEventListener("hashchange", () => location.reload());
(document.body.dataset.page === "accept" ? startAccept() : startApprove()).catch((error) => report("bad", describe(error)));
