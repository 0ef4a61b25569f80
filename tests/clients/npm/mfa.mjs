// MFA policies, through the clients' own methods.

import { named, plain, result } from "./watch.mjs";

export async function mfa({ alice, second: { userId } }) {
  const seen = {};
  const policy = {
    userId,
    mfaPolicyName: "npm",
    condition: "activity.kind == 'DELETE_WALLETS'",
    requiredAuthenticationMethods: [{ any: [{ type: "AUTHENTICATION_TYPE_API_KEY" }] }],
    order: 1,
    notes: "noted",
  };
  const create = await alice.createMfaPolicy(policy);
  const mfaPolicyId = named("mfa policy", create.mfaPolicyId);
  seen.create = result(create);
  seen.get = plain(await alice.getMfaPolicy({ userId, mfaPolicyId }));
  seen.update = result(await alice.updateMfaPolicy({ ...policy, mfaPolicyId, mfaPolicyName: "npm renamed" }));
  const { mfaPolicies } = await alice.getMfaPolicies({ userId });
  seen.names = mfaPolicies.map((each) => each.mfaPolicyName);
  seen.status = plain(await alice.getMfaStatus({ activityId: create.activity.id }));
  seen.delete = result(await alice.deleteMfaPolicy({ userId, mfaPolicyId }));
  seen.left = plain(await alice.getMfaPolicies({ userId }));
  return seen;
}
