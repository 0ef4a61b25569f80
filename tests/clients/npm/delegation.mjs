// Delegated access: a backend gives itself one narrow permission in its customer's sub-organization, and then leaves
// the root quorum.

import { client, keyPair } from "./watch.mjs";
import { account, alice, brief, newcomer, payload, recalled, refused, report, reportLast } from "./dialogue.mjs";

async function createSetup() {
  const [owner, backend] = [keyPair("end user"), keyPair("backend")];
  const created = await alice.createSubOrganization({
    subOrganizationName: "delegated access",
    rootUsers: [newcomer("end user", owner), newcomer("backend", backend)],
    rootQuorumThreshold: 1,
    wallet: { walletName: "spending", accounts: [account(0), account(1)] },
  });
  const organizationId = created.subOrganizationId;
  const member = async (userName, key) => {
    const own = client(key, organizationId);
    const { userId } = await own.getWhoami();
    return { person: { userId, userName, ...key }, userId, client: own };
  };
  const [granted, other] = created.wallet.addresses;
  return {
    organizationId,
    owner: await member("end user", owner),
    backend: await member("backend", backend),
    granted,
    other,
  };
}

// Attempts of the backend that its policy does not allow.
async function attempts({ backend, owner, granted, other }, policyId) {
  const { client, userId } = backend;
  const sign = (...values) => refused(() => client.signRawPayload(payload(...values)));
  const own = { policyName: "more", effect: "EFFECT_ALLOW", consensus: `approvers.any(user, user.id == '${userId}')`, notes: "" };
  return {
    otherAccount: await sign(other, "with the other account"),
    otherHash: await sign(granted, "hashed otherwise", "HASH_FUNCTION_KECCAK256"),
    manyPayloads: await refused(() => {
      const { payload: text, ...rest } = payload(granted, "one of many");
      return client.signRawPayloads({ ...rest, payloads: [text] });
    }),
    wallet: await refused(() => client.createWallet({ walletName: "backend's own", accounts: [] })),
    widen: await refused(() => client.updatePolicy({ policyId, policyCondition: "true" })),
    remove: await refused(() => client.deletePolicy({ policyId })),
    more: await refused(() => client.createPolicy(own)),
    friend: await refused(() => client.createUsers({ users: [{ ...newcomer("friend", keyPair("friend")), userTags: [] }] })),
    rename: await refused(() => client.updateUser({ userId: owner.userId, userName: "nobody", userTagIds: [] })),
    quorum: await refused(() => client.updateRootQuorum({ threshold: 1, userIds: [userId] })),
  };
}

export async function delegation() {
  const setup = await createSetup();
  const { organizationId, owner, backend, granted, other } = setup;
  const condition = [
    "activity.kind == 'SIGN_RAW_PAYLOAD'",
    `wallet_account.address == '${granted}'`,
    "activity.params.hash_function == 'HASH_FUNCTION_SHA256'",
  ].join(" && ");
  const consensus = `approvers.any(user, user.id == '${backend.userId}')`;
  const { policyId } = await backend.client.createPolicy({
    policyName: "the backend signs",
    effect: "EFFECT_ALLOW",
    condition,
    consensus,
    notes: "",
  });
  const asRoot = brief(await backend.client.signRawPayload(payload(other, "while it is a root user")));
  const left = brief(await backend.client.updateRootQuorum({ threshold: 1, userIds: [owner.userId] }));
  const people = { owner: owner.person, backend: backend.person };
  await report({ organizationId, people, granted, policy: { policyId, condition, consensus }, asRoot, left });

  const signed = await backend.client.signRawPayload(payload(granted, "by the backend"));
  await report({
    signed: await recalled(backend.client, signed.activity.id),
    attempts: await attempts(setup, policyId),
    policy: (await owner.client.getPolicy({ policyId })).policy,
  });

  const byOwner = brief(await owner.client.signRawPayload(payload(other, "by the end user")));
  await owner.client.deletePolicy({ policyId });
  const after = await refused(() => backend.client.signRawPayload(payload(granted, "without a policy")));
  reportLast({ byOwner, after });
}
