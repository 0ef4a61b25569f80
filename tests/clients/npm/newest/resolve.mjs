// Lets the scenarios use the newest packages: what they import from @turnkey is resolved in this folder.
//   node --import ./newest/resolve.mjs SCENARIO

import { register } from "node:module";

register("./hooks.mjs", import.meta.url);
