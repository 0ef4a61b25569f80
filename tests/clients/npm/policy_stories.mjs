// Plays one story of policies through @turnkey/sdk-server, unmodified: prints what it saw in each step as a line of
// JSON, and goes on with each line that it reads. The story judges.
//   node policy_stories.mjs CREDENTIALS_FILE NAME

import { delegation } from "./delegation.mjs";
import { denial } from "./denials.mjs";
import { gates } from "./gates.mjs";
import { departure, payout, revision } from "./payouts.mjs";

const stories = { delegation, denial, departure, gates, payout, revision };
await stories[process.argv[3]]();
