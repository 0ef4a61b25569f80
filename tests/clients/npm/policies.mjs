// Policies, their evaluations, and votes, through the clients' own methods.

import { client, keyPair, named, plain, failure, result } from "./watch.mjs";

const wallet = (walletName) => ({ walletName, accounts: [] });

export async function policies({ alice }) {
  const seen = {};
  const key = keyPair("clerk key");
  const create = await alice.createUsers({
    users: [
      {
        userName: "clerk",
        apiKeys: [{ apiKeyName: "clerk", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      },
    ],
  });
  const userId = named("clerk", create.userIds[0]);
  const clerk = client(key);
  const one = await alice.createPolicy({
    policyName: "clerk",
    effect: "EFFECT_DENY",
    condition: "activity.kind == 'CREATE_WALLET'",
    consensus: `approvers.any(user, user.id == '${userId}')`,
    notes: "noted",
  });
  const policyId = named("policy", one.policyId);
  seen.create = result(one);
  const many = await alice.createPolicies({
    policies: ["one", "two"].map((policyName) => ({
      policyName,
      effect: "EFFECT_DENY",
      condition: "activity.kind == 'EXPORT_WALLET'",
      notes: "",
    })),
  });
  const policyIds = many.policyIds.map((id, index) => named(`policy ${index}`, id));
  seen.createMany = result(many);
  seen.denied = await failure(() => clerk.createWallet(wallet("denied")));
  seen.update = result(await alice.updatePolicy({ policyId, policyName: "clerk renamed", policyEffect: "EFFECT_ALLOW" }));
  const { policy } = await alice.getPolicy({ policyId });
  seen.get = plain({ ...policy, consensus: policy.consensus.replace(userId, "clerk") });
  const list = async () => plain((await alice.getPolicies({})).policies.map((each) => [each.policyId, each.policyName])).sort();
  seen.list = await list();

  const { activity, walletId } = await clerk.createWallet(wallet("allowed"));
  named("activity", activity.id);
  named("vote", activity.votes[0].id);
  const { policyEvaluations } = await alice.getPolicyEvaluations({ activityId: activity.id });
  named("evaluation", policyEvaluations[0].id);
  seen.evaluations = plain(policyEvaluations).map(({ policyEvaluations, ...rest }) => ({
    ...rest,
    policyEvaluations: policyEvaluations.sort((one, other) => one.policyId.localeCompare(other.policyId)),
  }));

  await alice.deleteWallets({ walletIds: [walletId], deleteWithoutExport: true });
  seen.delete = result(await alice.deletePolicy({ policyId }));
  seen.deleteMany = result(await alice.deletePolicies({ policyIds }));
  seen.left = await list();
  await alice.deleteUsers({ userIds: [userId] });
  return seen;
}

export async function votes({ alice, bob, first, second }) {
  const seen = {};
  const userIds = [first.userId, second.userId];
  seen.quorum = result(await alice.updateRootQuorum({ threshold: 2, userIds }));
  const quorum = async () => plain((await alice.getOrganizationConfigs({})).configs.quorum);
  seen.raised = await quorum();

  const refused = (await alice.createWallet(wallet("refused"))).activity;
  const answer = await bob.rejectActivity({ fingerprint: refused.fingerprint });
  const rejected = (await alice.getActivity({ activityId: refused.id })).activity;
  seen.rejected = [refused.status, answer.activity.id === refused.id, rejected.status, rejected.votes.map((vote) => vote.selection)];

  const pending = (await alice.updateRootQuorum({ threshold: 1, userIds })).activity;
  const approved = await bob.approveActivity({ fingerprint: pending.fingerprint });
  seen.approved = [pending.status, approved.activity.id === pending.id, approved.activity.status, approved.updateRootQuorumResult];
  seen.lowered = await quorum();

  const filter = { filterByType: ["ACTIVITY_TYPE_CREATE_WALLET"], filterByStatus: ["ACTIVITY_STATUS_REJECTED"] };
  // The list also contains the request that the policy denied.
  seen.rejections = (await alice.getActivities(filter)).activities.map((each) => each.id === refused.id);
  return seen;
}
