// Webhook endpoints, session profiles and IP allowlists, through the clients' own methods.

import { createServer } from "node:http";
import { named, plain, failure, result } from "./watch.mjs";

export async function endpoints({ alice }) {
  const seen = {};
  // The receiver accepts all deliveries; other scenarios check them.
  const receiver = createServer((_, response) => response.end());
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = named("url", `http://127.0.0.1:${receiver.address().port}/npm`);
  const create = await alice.createWebhookEndpoint({
    name: "npm",
    url,
    subscriptions: [{ eventType: "ACTIVITY_UPDATES", filtersJson: "{}", isActive: true }],
  });
  const endpointId = named("endpoint", create.endpointId);
  seen.create = result(create);
  seen.list = plain(await alice.listWebhookEndpoints({}));
  seen.update = result(await alice.updateWebhookEndpoint({ endpointId, name: "npm renamed", isActive: false }));
  seen.updated = plain(await alice.listWebhookEndpoints({}));
  seen.delete = result(await alice.deleteWebhookEndpoint({ endpointId }));
  seen.left = plain(await alice.listWebhookEndpoints({}));
  receiver.close();
  receiver.closeAllConnections();
  return seen;
}

export async function profiles({ alice }) {
  const seen = {};
  const create = await alice.createSessionProfile({
    sessionProfileName: "npm",
    scope: "activity.kind == 'CREATE_WALLET'",
    expirationSeconds: "600",
    notes: "noted",
  });
  const sessionProfileId = named("profile", create.sessionProfileId);
  seen.create = result(create);
  seen.get = plain(await alice.getSessionProfile({ sessionProfileId }));
  seen.list = plain((await alice.getSessionProfiles({})).sessionProfiles.map((each) => each.sessionProfileId));
  return seen;
}

export async function allowlists({ alice, bob, second: { publicKey } }) {
  const seen = {};
  const here = { cidr: "127.0.0.1/32", label: "here" };
  const elsewhere = { cidr: "192.0.2.0/24" };
  // Allowlists of keys apply while the organization has an enabled one.
  seen.set = result(await alice.setIpAllowlist({ enabled: true, rules: [here], onEvaluationError: "ALLOW" }));
  seen.get = plain(await alice.getIpAllowlist({}));
  seen.setKey = result(await alice.setIpAllowlist({ publicKey, rules: [elsewhere], onEvaluationError: "DENY" }));
  seen.ofKey = plain(await alice.getIpAllowlist({ publicKey }));
  seen.shut = await failure(() => bob.getWhoami());
  seen.setKeyAgain = result(await alice.setIpAllowlist({ publicKey, rules: [elsewhere, here] }));
  seen.ofKeyAgain = plain(await alice.getIpAllowlist({ publicKey }));
  seen.open = plain((await bob.getWhoami()).userId);
  seen.removeKey = result(await alice.removeIpAllowlist({ publicKey }));
  seen.goneOfKey = await failure(() => alice.getIpAllowlist({ publicKey }));
  seen.remove = result(await alice.removeIpAllowlist({}));
  seen.gone = await failure(() => alice.getIpAllowlist({}));
  return seen;
}
