// Policies with a time condition. Each condition holds or fails for hundreds of years, so that no run of this scenario
// is near a change.

import { alice, bothAgree, brief, hire, payload, purse, recalled, refused, report, reportLast } from "./dialogue.mjs";

// A span of seven days starts every seven days, so it always applies.
const always = "CronSpan('0 0 * * 0', '7d', 'UTC')";
const gate = {
  open: `time.now < Timestamp('2400-01-01T00:00:00Z') && ${always}`,
  later: "time.now >= Timestamp('2400-01-01T00:00:00Z')",
  never: `!${always}`,
};

export async function gates() {
  const clerk = await hire("clerk");
  const { address } = await purse("gated");
  const consensus = `approvers.any(user, user.id == '${clerk.userId}')`;
  const policies = {};
  const add = async (name, effect, kind, time) => {
    const condition = `activity.kind == '${kind}'`;
    const { policyId } = await alice.createPolicy({ policyName: name, effect: `EFFECT_${effect}`, condition, consensus, notes: "", time });
    policies[name] = policyId;
  };
  await add("later", "ALLOW", "SIGN_RAW_PAYLOAD", gate.later);
  await add("never", "ALLOW", "SIGN_RAW_PAYLOAD", gate.never);
  await add("open", "ALLOW", "CREATE_WALLET", gate.open);
  await add("denied later", "DENY", "CREATE_WALLET", gate.later);
  const signs = () => clerk.client.signRawPayload(payload(address, "in time"));
  const gateOf = async (name) => (await alice.getPolicy({ policyId: policies[name] })).policy.time;
  const created = await clerk.client.createWallet({ walletName: "in time", accounts: [] });
  const seen = {
    people: { clerk: clerk.person },
    policies,
    address,
    gates: [await gateOf("later"), gate.later, await gateOf("never"), gate.never],
    created: await recalled(clerk.client, created.activity.id),
    early: await refused(signs),
    otherKind: await refused(() => clerk.client.createUserTag({ userTagName: "of no policy", userIds: [] })),
  };
  await bothAgree();
  const update = brief(await alice.updatePolicy({ policyId: policies.never, time: "" }));
  await report({ ...seen, update });
  // Bob approves in the scenario.
  const signed = await signs();
  reportLast({ gate: (await gateOf("never")) ?? "", signed: await recalled(clerk.client, signed.activity.id) });
}
