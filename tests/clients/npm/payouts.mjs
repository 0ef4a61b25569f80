// Payouts that members of a team decide together, while the team and its rule change.

import { alice, bob, bothAgree, brief, first, hire, payload, purse, recalled, refused, tell, tellLast } from "./dialogue.mjs";

// A team that shares a tag, a user without it, a purse, and the rule that so many of the team must agree.
async function team(names, votes) {
  const { userTagId } = await alice.createUserTag({ userTagName: "finance", userIds: [] });
  const members = [];
  for (const name of names) members.push(await hire(name, [userTagId]));
  const stranger = await hire("mallory");
  const { address } = await purse("payouts");
  const { policyId } = await alice.createPolicy({
    policyName: "payouts",
    effect: "EFFECT_ALLOW",
    condition: "activity.action == 'SIGN'",
    consensus: atLeast(votes, userTagId),
    notes: "",
  });
  const people = Object.fromEntries([...members, stranger].map(({ person }) => [person.userName, person]));
  return { members, stranger, userTagId, policyId, address, told: { people, policyId, address } };
}

const atLeast = (votes, tag) => `approvers.filter(u, u.tags.contains('${tag}')).count() >= ${votes}`;

const asks = async (member, address, text) => brief(await member.client.signRawPayload(payload(address, text)));
const votes = async (member, { fingerprint }) => brief(await member.client.approveActivity({ fingerprint }));

export async function payout() {
  const { members, stranger, userTagId, address, told } = await team(["carol", "dave", "erin"], 2);
  const [carol, dave, erin] = members;
  await tell(told);

  const pending = await asks(carol, address, "pay the supplier");
  const { fingerprint } = pending;
  await tell({
    pending,
    asked: await refused(() => asks(stranger, address, "pay mallory")),
    approved: await refused(() => votes(stranger, pending)),
    rejected: await refused(() => stranger.client.rejectActivity({ fingerprint })),
  });
  // Dave approves on the other side.
  const paid = await recalled(carol.client, pending.id);

  // Alice is of the team, too, and too few for the root quorum.
  await alice.updateUserTag({ userTagId, addUserIds: [first.userId], removeUserIds: [] });
  await bothAgree();
  const waits = brief(await alice.signRawPayload(payload(address, "pay the landlord")));
  const removal = await alice.updateUserTag({ userTagId, addUserIds: [], removeUserIds: [first.userId, erin.userId] });
  const removed = brief(await bob.approveActivity({ fingerprint: removal.activity.fingerprint }));
  await tell({
    paid,
    waits,
    removed,
    former: await refused(() => votes(erin, waits)),
    formerAsks: await refused(() => asks(erin, address, "pay erin")),
    one: await votes(dave, waits),
  });
  // Carol approves on the other side.
  tellLast({ paid: await recalled(alice, waits.id) });
}

export async function revision() {
  const { members, userTagId, policyId, address, told } = await team(["carol", "dave", "erin"], 2);
  const [carol, dave, erin] = members;
  const pending = await asks(carol, address, "pay the supplier");
  await tell({ ...told, pending });

  await alice.updatePolicy({ policyId, policyConsensus: atLeast(3, userTagId) });
  await tell({ two: await votes(dave, pending) });

  await alice.deletePolicy({ policyId });
  await tell({ late: await refused(() => votes(erin, pending)) });
  // Bob approves on the other side.
  tellLast({ paid: await recalled(alice, pending.id) });
}

export async function departure() {
  const { members, address, told } = await team(["carol", "dave", "erin", "frank"], 3);
  const [carol, dave, erin] = members;
  const pending = await asks(carol, address, "pay the supplier");
  await tell({ ...told, pending, two: await votes(dave, pending) });

  await alice.deleteUsers({ userIds: [dave.userId] });
  await tell({
    gone: await refused(() => votes(dave, pending)),
    erin: await votes(erin, pending),
    between: await recalled(alice, pending.id),
  });
  // Frank approves on the other side.
  tellLast({ paid: await recalled(alice, pending.id) });
}
