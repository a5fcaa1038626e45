// `npm start`, as a reader types it, in the folder where this runs: waits for the link that it prints, opens it, and ends
// it as Ctrl-C does. Exits with 1 when one of these fails.
import { spawn } from "node:child_process";
import { once } from "node:events";

const PATIENCE_MS = 120_000;

const child = spawn("npm", ["start"], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
const ended = once(child, "exit");
/** To npm and what it started. */
const signal = (name) => process.kill(-(child.pid ?? 0), name);
const fail = (why) => {
  console.error(`npm start: ${why}`);
  signal("SIGKILL");
  process.exit(1);
};
setTimeout(() => fail(`no link in ${PATIENCE_MS} ms`), PATIENCE_MS).unref();

let output = "";
let link;
for await (const chunk of child.stdout) {
  process.stdout.write(chunk);
  output += chunk;
  link = /http:\S+\/console\/inbox\/\S+/.exec(output)?.[0];
  if (link !== undefined) break;
}
if (link === undefined) fail("it ended without a link");
const page = await fetch(link).catch((error) => fail(String(error)));
if (page.status !== 200) fail(`${link} is ${page.status}`);
signal("SIGINT");
const [code] = await ended;
if (code !== 0) fail(`exit code ${code}`);
console.log(`npm start: ${link} answers, and Ctrl-C ends it`);
