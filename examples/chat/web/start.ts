// Starts both: `holdpoint dev` with the sample graphs, and the page.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { servePage } from "./serve-page.ts";

const PAGE_PORT = Number(process.env["PAGE_PORT"] ?? 5173);
const ROOT = join(import.meta.dirname, "..", "..", "..");
const config = join(ROOT, "examples", "langgraph.json");

const server = spawn(process.execPath, [join(ROOT, "src", "main.ts"), "dev", "--no-browser", "--config", config], {
  stdio: ["inherit", "pipe", "inherit"],
});
server.once("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));

let isServed = false;
createInterface({ input: server.stdout }).on("line", (line) => {
  console.log(line);
  const [, apiUrl] = /agent server +(http:\S+)/.exec(line) ?? [];
  if (apiUrl === undefined || isServed) return;
  isServed = true;
  void servePage(apiUrl, PAGE_PORT).then(({ url }) => console.log(`chat              ${url}`));
});
