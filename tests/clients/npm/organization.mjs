// The organization, its sub-organizations, invitations and contracts, through the clients' own methods.

import { client, credentials, keyPair, named, plain, failure, result } from "./watch.mjs";

async function shown(raw) {
  return (await raw.getOrganization({ organizationId: credentials.organizationId })).organizationData;
}

export async function organization({ alice, raw }) {
  const seen = { whoami: plain(await alice.getWhoami()) };
  const features = async () => plain((await alice.getOrganizationConfigs({})).configs.features);
  seen.features = await features();
  const origin = { name: "FEATURE_NAME_WEBAUTHN_ORIGINS", value: "https://npm.example" };
  seen.setFeature = result(await alice.setOrganizationFeature(origin));
  seen.set = await features();
  seen.removeFeature = result(await alice.removeOrganizationFeature({ name: origin.name }));
  seen.removed = await features();
  seen.rename = result(await alice.updateOrganizationName({ organizationName: "npm organization" }));
  seen.renamed = plain(await alice.getWhoami());
  const { users, ...rest } = await shown(raw);
  seen.get = plain({ ...rest, users: users.map((each) => each.userName).sort() });
  return seen;
}

export async function children({ alice }) {
  const seen = {};
  const key = keyPair("child key");
  const path = { curve: "CURVE_ED25519", pathFormat: "PATH_FORMAT_BIP32", path: "m/44'/501'/0'/0'", addressFormat: "ADDRESS_FORMAT_SOLANA" };
  const create = await alice.createSubOrganization({
    subOrganizationName: "npm child",
    rootUsers: [
      {
        userName: "child root",
        userEmail: "child@example.com",
        apiKeys: [{ apiKeyName: "first", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }],
        authenticators: [],
        oauthProviders: [],
      },
    ],
    rootQuorumThreshold: 1,
    wallet: { walletName: "child wallet", accounts: [path] },
  });
  const childId = named("child", create.subOrganizationId);
  named("child root", create.rootUserIds[0]);
  named("child wallet", create.wallet.walletId);
  named("child address", create.wallet.addresses[0]);
  seen.create = result(create);
  const child = client(key, childId);
  const filter = { filterType: "EMAIL", filterValue: "child@example.com" };
  seen.whoami = plain(await child.getWhoami());
  seen.list = plain(await alice.getSubOrgIds({}));
  seen.found = plain(await alice.getSubOrgIds(filter));
  // This address is not verified.
  seen.verified = plain(await alice.getVerifiedSubOrgIds(filter));
  seen.keep = await failure(() => child.deleteSubOrganization({}));
  seen.delete = result(await child.deleteSubOrganization({ deleteWithoutExport: true }));
  seen.left = plain(await alice.getSubOrgIds({}));
  seen.gone = await failure(() => child.getWhoami());
  return seen;
}

export async function invitations({ alice, raw, first }) {
  const seen = {};
  const create = await alice.createInvitations({
    invitations: [
      {
        receiverUserName: "guest",
        receiverUserEmail: "guest@example.org",
        receiverUserTags: [],
        accessType: "ACCESS_TYPE_WEB",
        senderUserId: first.userId,
      },
    ],
  });
  const invitationId = named("invitation", create.invitationIds[0]);
  seen.create = result(create);
  seen.list = plain((await shown(raw)).invitations);
  seen.delete = result(await alice.deleteInvitation({ invitationId }));
  seen.left = plain((await shown(raw)).invitations);
  return seen;
}

export async function contracts({ alice }) {
  const seen = {};
  const create = await alice.createSmartContractInterface({
    smartContractAddress: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    smartContractInterface: '[{"type":"function","name":"pause","inputs":[],"outputs":[],"stateMutability":"nonpayable"}]',
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
    label: "npm",
    notes: "noted",
  });
  const smartContractInterfaceId = named("contract", create.smartContractInterfaceId);
  seen.create = result(create);
  seen.get = plain(await alice.getSmartContractInterface({ smartContractInterfaceId }));
  const list = async () =>
    plain((await alice.getSmartContractInterfaces({})).smartContractInterfaces.map((each) => each.smartContractInterfaceId));
  seen.list = await list();
  seen.delete = result(await alice.deleteSmartContractInterface({ smartContractInterfaceId }));
  seen.left = await list();
  return seen;
}
