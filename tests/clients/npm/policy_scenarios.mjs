// Runs a policy scenario with the unmodified @turnkey/sdk-server. Prints the observations of each step as a line of
// JSON, which the scenario checks, and continues with each line that it reads.
//   node policy_scenarios.mjs CREDENTIALS_FILE NAME

import { delegation } from "./delegation.mjs";
import { denial } from "./denials.mjs";
import { gates } from "./gates.mjs";
import { departure, payout, revision } from "./payouts.mjs";

const scenarios = { delegation, denial, departure, gates, payout, revision };
await scenarios[process.argv[3]]();
