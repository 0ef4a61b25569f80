// The mails that the daemon sent, in the folder that the calling program names.

import { existsSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";

const folder = process.argv[3];
let mails = 0;

// Waits for the next mail. Watches the folder before it looks, so that no mail is missed.
export async function nextMail() {
  mails += 1;
  const path = join(folder, `${mails}.json`);
  await new Promise((resolve) => {
    const look = () => existsSync(path) && (watcher.close(), resolve());
    const watcher = watch(folder, look);
    look();
  });
  const mail = JSON.parse(readFileSync(path, "utf8"));
  // The secret has a line of its own.
  return { ...mail, secret: mail.text.match(/^ {4}(\S+)\r?$/m)[1] };
}
