// Payouts that members of a team approve together, while the team and the policy change.

import { alice, bob, bothAgree, brief, first, hire, payload, purse, recalled, refused, report, reportLast } from "./dialogue.mjs";

// Creates a team that shares a tag, a user without it, a wallet, and a policy that requires this many votes
// of the team.
async function team(names, votes) {
  const { userTagId } = await alice.createUserTag({ userTagName: "finance", userIds: [] });
  const members = [];
  for (const name of names) members.push(await hire(name, [userTagId]));
  const outsider = await hire("mallory");
  const { address } = await purse("payouts");
  const { policyId } = await alice.createPolicy({
    policyName: "payouts",
    effect: "EFFECT_ALLOW",
    condition: "activity.action == 'SIGN'",
    consensus: atLeast(votes, userTagId),
    notes: "",
  });
  const people = Object.fromEntries([...members, outsider].map(({ person }) => [person.userName, person]));
  return { members, outsider, userTagId, policyId, address, setup: { people, policyId, address } };
}

const atLeast = (votes, tag) => `approvers.filter(u, u.tags.contains('${tag}')).count() >= ${votes}`;

const pay = async (member, address, text) => brief(await member.client.signRawPayload(payload(address, text)));
const votes = async (member, { fingerprint }) => brief(await member.client.approveActivity({ fingerprint }));

export async function payout() {
  const { members, outsider, userTagId, address, setup } = await team(["carol", "dave", "erin"], 2);
  const [carol, dave, erin] = members;
  await report(setup);

  const pending = await pay(carol, address, "pay the supplier");
  const { fingerprint } = pending;
  await report({
    pending,
    denied: await refused(() => pay(outsider, address, "pay mallory")),
    approved: await refused(() => votes(outsider, pending)),
    rejected: await refused(() => outsider.client.rejectActivity({ fingerprint })),
  });
  // Dave approves in the scenario.
  const paid = await recalled(carol.client, pending.id);

  // Alice is also a member of the team, and cannot decide alone as a root user.
  await alice.updateUserTag({ userTagId, addUserIds: [first.userId], removeUserIds: [] });
  await bothAgree();
  const waits = brief(await alice.signRawPayload(payload(address, "pay the landlord")));
  const removal = await alice.updateUserTag({ userTagId, addUserIds: [], removeUserIds: [first.userId, erin.userId] });
  const removed = brief(await bob.approveActivity({ fingerprint: removal.activity.fingerprint }));
  await report({
    paid,
    waits,
    removed,
    former: await refused(() => votes(erin, waits)),
    formerAsks: await refused(() => pay(erin, address, "pay erin")),
    one: await votes(dave, waits),
  });
  // Carol approves in the scenario.
  reportLast({ paid: await recalled(alice, waits.id) });
}

export async function revision() {
  const { members, userTagId, policyId, address, setup } = await team(["carol", "dave", "erin"], 2);
  const [carol, dave, erin] = members;
  const pending = await pay(carol, address, "pay the supplier");
  await report({ ...setup, pending });

  await alice.updatePolicy({ policyId, policyConsensus: atLeast(3, userTagId) });
  await report({ two: await votes(dave, pending) });

  await alice.deletePolicy({ policyId });
  await report({ late: await refused(() => votes(erin, pending)) });
  // Bob approves in the scenario.
  reportLast({ paid: await recalled(alice, pending.id) });
}

export async function departure() {
  const { members, address, setup } = await team(["carol", "dave", "erin", "frank"], 3);
  const [carol, dave, erin] = members;
  const pending = await pay(carol, address, "pay the supplier");
  await report({ ...setup, pending, two: await votes(dave, pending) });

  await alice.deleteUsers({ userIds: [dave.userId] });
  await report({
    gone: await refused(() => votes(dave, pending)),
    erin: await votes(erin, pending),
    between: await recalled(alice, pending.id),
  });
  // Frank approves in the scenario.
  reportLast({ paid: await recalled(alice, pending.id) });
}
