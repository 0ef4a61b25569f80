// Delegated access: a backend leaves itself one narrow right in its customer's sub-organization, and then its seat.

import { client, keyPair } from "./watch.mjs";
import { account, alice, brief, newcomer, payload, recalled, refused, tell, tellLast } from "./dialogue.mjs";

async function household() {
  const [owner, backend] = [keyPair("end user"), keyPair("backend")];
  const made = await alice.createSubOrganization({
    subOrganizationName: "delegated access",
    rootUsers: [newcomer("end user", owner), newcomer("backend", backend)],
    rootQuorumThreshold: 1,
    wallet: { walletName: "spending", accounts: [account(0), account(1)] },
  });
  const organizationId = made.subOrganizationId;
  const member = async (userName, key) => {
    const own = client(key, organizationId);
    const { userId } = await own.getWhoami();
    return { person: { userId, userName, ...key }, userId, client: own };
  };
  const [granted, other] = made.wallet.addresses;
  return {
    organizationId,
    owner: await member("end user", owner),
    backend: await member("backend", backend),
    granted,
    other,
  };
}

// All that the backend may not do any more, with its policy as it stands.
async function attempts({ backend, owner, granted, other }, policyId) {
  const { client, userId } = backend;
  const sign = (...said) => refused(() => client.signRawPayload(payload(...said)));
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
  const house = await household();
  const { organizationId, owner, backend, granted, other } = house;
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
  await tell({ organizationId, people, granted, policy: { policyId, condition, consensus }, asRoot, left });

  const signed = await backend.client.signRawPayload(payload(granted, "by the backend"));
  await tell({
    signed: await recalled(backend.client, signed.activity.id),
    attempts: await attempts(house, policyId),
    policy: (await owner.client.getPolicy({ policyId })).policy,
  });

  const byOwner = brief(await owner.client.signRawPayload(payload(other, "by the end user")));
  await owner.client.deletePolicy({ policyId });
  const after = await refused(() => backend.client.signRawPayload(payload(granted, "without a policy")));
  tellLast({ byOwner, after });
}
