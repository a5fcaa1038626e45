// Starts both: `holdpoint dev` and the page. In a clone of Holdpoint, the server is that of the clone, with all sample
// graphs. In a copy of examples/chat it is the installed package, with the graph of the copy. With API_URL, only the page
// starts, for the server at that address.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { servePage } from "./serve-page.ts";

const { API_URL, PAGE_PORT = "5173" } = process.env;
const CHAT = dirname(import.meta.dirname);

interface Program {
  readonly file: string;
  readonly config: string;
}

function findHoldpoint(): Program {
  const clone = dirname(dirname(CHAT));
  const own = {
    file: join(clone, "packages/holdpoint/src/main.ts"),
    config: join(clone, "examples", "langgraph.json"),
  };
  if (existsSync(own.file) && existsSync(own.config)) return own;
  const config = join(CHAT, "langgraph.json");
  const require = createRequire(config);
  try {
    const manifest = require.resolve("holdpoint/package.json");
    const { bin } = require(manifest) as { readonly bin: { readonly holdpoint: string } };
    return { file: join(dirname(manifest), bin.holdpoint), config };
  } catch {
    console.error(`Holdpoint is not installed for ${CHAT}: see the README, or set API_URL to the address of a server.`);
    return process.exit(1);
  }
}

async function showPage(apiUrl: string): Promise<void> {
  const { url } = await servePage(apiUrl, Number(PAGE_PORT));
  console.log(`chat              ${url}`);
}

function startBoth({ file, config }: Program): void {
  const server = spawn(process.execPath, [file, "dev", "--no-browser", "--config", config], {
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
    void showPage(apiUrl);
  });
}

if (API_URL === undefined) startBoth(findHoldpoint());
else await showPage(API_URL);
