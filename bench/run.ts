// Benchmarks: `npm run bench -- agent [--postgres] [--short | --quick]`, `… collector [part…]`, `… traces [--postgres [--short | --spans <number>]]`,
// `… protocol [--short]`, `… long-life [--short]`, `… peers [--short]`, `… processes [--short]`,
// `… encryption [--short]`. Prints a table with the asked figures beside the measured ones, and one closing line of ratios.
// Those of the agent server are also written as JSON (`--json <file>`). `--quick` measures only a cycle.
import { parseArgs } from "node:util";
import { benchAgent } from "./agent.ts";
import { benchCollector } from "./collector.ts";
import { benchPostgres } from "./agent/postgres.ts";
import { benchEncryption } from "./encryption.ts";
import { benchPeers } from "./peers.ts";
import { benchProcesses } from "./processes.ts";
import { benchLongLife } from "./long-life.ts";
import { benchManySpans } from "./many-spans.ts";
import { benchProtocol } from "./protocol.ts";
import { benchTraces } from "./traces.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    postgres: { type: "boolean", default: false },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    spans: { type: "string" },
  },
});
const [what = "agent", ...parts] = positionals;
if (what === "agent" && values.postgres)
  await benchPostgres({ ...values, json: values.json ?? "dist/bench-postgres.json" });
else if (what === "agent") await benchAgent({ ...values, json: values.json ?? "dist/bench-agent.json" });
else if (what === "collector") await benchCollector(parts);
else if (what === "traces" && values.postgres) await benchManySpans(values);
else if (what === "traces") await benchTraces();
else if (what === "long-life") await benchLongLife({ ...values, json: values.json ?? "dist/bench-long-life.json" });
else if (what === "protocol") await benchProtocol(values);
else if (what === "encryption") await benchEncryption(values);
else if (what === "peers") await benchPeers(values);
else if (what === "processes") await benchProcesses(values);
else {
  console.error(
    `no such benchmark: ${what}. There are: agent, collector, encryption, long-life, peers, processes, protocol, traces`,
  );
  process.exitCode = 2;
}
