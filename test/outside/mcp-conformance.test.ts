// The conformance suite of the Model Context Protocol against /mcp, with agents behind the tools that it calls. It is a
// separate project, test/gateways/conformance.
// Rule mcp-conformance.1: every scenario of the suite for servers passes, or tests a feature that agents do not have.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { nestedProject } from "./nested-project.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { removeFolder, ROOT } from "../harness/server.ts";

const run = promisify(execFile);
const FOLDER = nestedProject("test/gateways/conformance");
const PROGRAM = join(FOLDER, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");

const PASSING = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-error",
  "tools-call-with-progress",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

/** Reason → scenarios. The server does not announce the capabilities in question. */
const NOT_APPLICABLE: Readonly<Record<string, readonly string[]>> = {
  "the server sends no log messages: the log of a run is its trace": ["logging-set-level", "tools-call-with-logging"],
  "arguments of a tool have no completion": ["completion-complete"],
  "a result is the text of the last message, and values": [
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
  ],
  "agents have models of their own, and use none of the client": ["tools-call-sampling"],
  "the input schema comes from the types of the graph, without the members that the scenario looks for": [
    "json-schema-2020-12",
  ],
  "no call ends its stream for a reconnection; a repeated call finds its run by the idempotency key": [
    "server-sse-polling",
  ],
  "the server has no resources": [
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
  ],
  "the server has no prompts": [
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
  ],
};

suite("the conformance suite", { concurrency: 2 }, () => {
  let server: ServerHere;
  before(async () => {
    server = await startServerHere({ config: join(ROOT, "test", "graphs", "conformance.json") });
  });
  after(async () => {
    await server.stop();
    removeFolder(server.dataDir);
  });

  for (const name of PASSING)
    test(`${name} passes (mcp-conformance.1)`, async () => {
      const args = [PROGRAM, "server", "--url", `${server.url}/mcp`, "--scenario", name];
      const { stdout } = await run(process.execPath, args, { cwd: server.dataDir });
      assert.match(stdout, /Passed: (\d+)\/\1, 0 failed, 0 warnings/);
    });

  test("every scenario is in one of the lists (mcp-conformance.1)", async () => {
    const { stdout } = await run(process.execPath, [PROGRAM, "list", "--server"], { cwd: server.dataDir });
    const [, listed = ""] = /Server scenarios[^\n]*\n((?: {2}- .*\n)+)/.exec(stdout) ?? [];
    const names = [...listed.matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name]) => name);
    assert.deepEqual(new Set(names), new Set([...PASSING, ...Object.values(NOT_APPLICABLE).flat()]));
  });
});
