// A user who may do everything, and a wallet that nobody may use.

import { alice, bothAgree, brief, hire, payload, purse, recalled, refused, report, reportLast } from "./dialogue.mjs";

export async function denial() {
  const clerk = await hire("clerk");
  const treasury = await purse("treasury");
  const petty = await purse("petty cash");
  const allow = await alice.createPolicy({
    policyName: "the clerk may do everything",
    effect: "EFFECT_ALLOW",
    consensus: `approvers.any(user, user.id == '${clerk.userId}')`,
    notes: "",
  });
  const deny = await alice.createPolicy({
    policyName: "nobody touches the treasury",
    effect: "EFFECT_DENY",
    condition: `wallet.id == '${treasury.walletId}'`,
    notes: "",
  });
  const spends = async (from, text) => recalled(clerk.client, (await clerk.client.signRawPayload(payload(from.address, text))).activity.id);
  const tag = await clerk.client.createUserTag({ userTagName: "about no wallet", userIds: [] });
  const seen = {
    people: { clerk: clerk.person },
    policies: { allow: allow.policyId, deny: deny.policyId },
    treasury: treasury.address,
    petty: await spends(petty, "from the petty cash"),
    noWallet: await recalled(clerk.client, tag.activity.id),
    denied: await refused(() => spends(treasury, "from the treasury")),
    byRoot: brief(await alice.signRawPayload(payload(treasury.address, "by the root quorum of one"))),
  };
  await bothAgree();
  const pending = brief(await alice.signRawPayload(payload(treasury.address, "by the root quorum")));
  await report({ ...seen, pending });
  // Bob approves in the scenario.
  reportLast({
    completed: await recalled(alice, pending.id),
    denied: await refused(() => spends(treasury, "from the treasury again")),
  });
}
