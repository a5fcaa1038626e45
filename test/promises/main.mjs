#!/usr/bin/env node
// promises --url URL [--second URL] [--restart COMMAND] [--header "name: value"]… [--json FILE]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { askPromises } from "./promises.mjs";

const USAGE = `promises --url URL [options]

Asks a running agent server what it keeps, and prints a table with a reason for each no.
The server serves the graphs of ${join(import.meta.dirname, "graphs")}.

  --second URL       another server on the same database
  --restart COMMAND  ends the server with the signal in the variable PROMISES_SIGNAL, SIGKILL or SIGTERM, and
                     starts it again with the graphs of the folder in PROMISES_GRAPHS
  --header TEXT      a header of each request: "x-api-key: secret"
  --only TEXT        the promises with this text in their names
  --json FILE        writes the table there too
`;

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    second: { type: "string" },
    restart: { type: "string" },
    header: { type: "string", multiple: true, default: [] },
    only: { type: "string" },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help || values.url === undefined) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const clean = (url) => url?.replace(/\/+$/, "");
const headers = Object.fromEntries(values.header.map((text) => text.split(/:\s*(.*)/s).slice(0, 2)));
const restart = (graphs, signal) => {
  const env = { ...process.env, PROMISES_GRAPHS: join(import.meta.dirname, graphs), PROMISES_SIGNAL: signal };
  const { status } = spawnSync(values.restart, { shell: true, stdio: ["ignore", "inherit", "inherit"], env });
  if (status !== 0) throw new Error(`--restart ended with ${status}`);
};

const rows = await askPromises({
  url: clean(values.url),
  second: clean(values.second),
  restart: values.restart === undefined ? undefined : restart,
  headers,
  only: values.only,
  onRow({ name, kept, reason, request }) {
    console.log(`${kept === null ? "—  " : kept ? "yes" : "no "}  ${name}`);
    if (kept !== true) console.log(`       ${reason}`);
    if (request !== "") console.log(`       ${request}`);
  },
});
const count = (which) => rows.filter(({ kept }) => kept === which).length;
console.log(`\n${count(true)} kept, ${count(false)} not kept, ${count(null)} not asked`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
process.exitCode = count(false) === 0 ? 0 : 1;
