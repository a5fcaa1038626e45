// Benchmarks: `npm run bench -- agent [--peer] [--short]`. Prints a table and one closing line of ratios.
import { parseArgs } from "node:util";
import { benchAgent } from "./agent.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { peer: { type: "boolean", default: false }, short: { type: "boolean", default: false } },
});
const [what = "agent"] = positionals;
if (what === "agent") await benchAgent(values);
else {
  console.error(`no such benchmark: ${what}. There is: agent`);
  process.exitCode = 2;
}
