// The examples of docs/how-to/ask-from-any-program.md with agent frameworks, as they are on the page: a model wants to
// call a tool, a person approves or rejects, and the model gets the result. Only the models are fakes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test, type TestContext } from "node:test";
import { startFakeRequests } from "../fakes/requests.ts";
import { readExampleCode } from "../fixtures/how-to.ts";
import { writeFiles } from "../harness/project.ts";
import { PATIENCE } from "../harness/patience.ts";
import { nestedProject } from "./nested-project.ts";

// Inside the project with the frameworks.
const folder = mkdtempSync(join(nestedProject("test/collector/senders"), ".work-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFiles(folder, readExampleCode("ask-from-any-program.md"));

const AI_MODEL = `
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV4({ doGenerate: ({ prompt }) => {
    const result = prompt.flatMap(({ role, content }) => (role === "tool" ? content : [])).find(({ type }) => type === "tool-result");
    const content = result === undefined
      ? [{ type: "tool-call", toolCallId: "call-1", toolName: "refund", input: '{"order":"4711","amount":30}' }]
      : [{ type: "text", text: "model saw " + JSON.stringify(result.output) }];
    const reason = result === undefined ? "tool-calls" : "stop";
    return Promise.resolve({ content, finishReason: { unified: reason, raw: reason }, usage, warnings: [] });
  } });`;

/** File of the page → a program around it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "ai-sdk": `
import { tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { generateWithApprovals } from "./ai-sdk.ts";
${AI_MODEL}
const inputSchema = z.object({ order: z.string(), amount: z.number() });
const refund = tool({ inputSchema, needsApproval: true, execute: ({ amount }) => { console.log("ran", amount); return "refunded " + amount; } });
console.log(await generateWithApprovals({ id: "chat-1", model, tools: { refund }, messages: [{ role: "user", content: "Refund 4711" }] }));
`,
  "openai-agents": `
import { Agent, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { runWithApprovals } from "./openai-agents.ts";
setTracingDisabled(true);
const model = { getResponse: ({ input }) => {
  const result = input.find?.(({ type }) => type === "function_call_result");
  const output = result === undefined
    ? [{ type: "function_call", callId: "call-1", name: "refund", status: "completed", arguments: '{"order":"4711","amount":30}' }]
    : [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "model saw " + JSON.stringify(result.output) }] }];
  return Promise.resolve({ usage: new Usage(), output });
} };
const refund = tool({ name: "refund", description: "Refunds", parameters: z.object({ order: z.string(), amount: z.number() }), needsApproval: true,
  execute: ({ amount }) => { console.log("ran", amount); return "refunded " + amount; } });
console.log(await runWithApprovals("chat-1", new Agent({ name: "support", model, tools: [refund] }), "Refund 4711"));
`,
  mastra: `
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { generateWithAnswers } from "./mastra.ts";
${AI_MODEL}
const refund = createTool({
  id: "refund", description: "Refunds", inputSchema: z.object({ order: z.string(), amount: z.number() }),
  suspendSchema: z.any(), resumeSchema: z.any(),
  execute: async (args, { agent: { resumeData, suspend } }) => {
    if (resumeData === undefined) return suspend({ actionRequests: [{ name: "refund", args }], reviewConfigs: [{ actionName: "refund", allowedDecisions: ["approve", "reject"] }] });
    const [decision] = resumeData.decisions;
    if (decision.type !== "approve") return decision.message;
    console.log("ran", args.amount);
    return "refunded " + args.amount;
  },
});
const agent = new Agent({ id: "support", name: "support", instructions: "Be kind.", model, tools: { refund } });
const mastra = new Mastra({ agents: { support: agent }, storage: new InMemoryStore(), logger: false });
console.log(await generateWithAnswers(mastra.getAgent("support"), "Refund 4711", "chat-1"));
process.exit(0);
`,
};

async function runProgram(t: TestContext, name: string, decision: object): Promise<string> {
  const server = await startFakeRequests();
  t.after(() => {
    server.close();
    assert.deepEqual(server.violations, []);
  });
  const file = join(folder, `run-${name}.mjs`);
  writeFileSync(file, PROGRAMS[name] ?? "");
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env["PATH"], HOLDPOINT_URL: server.url, MASTRA_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const printed = text(child.stdout);
  const exited = once(child, "exit");
  await Promise.race([server.opened(1), exited]);
  assert.equal(server.kept[0]?.key, "chat-1-call-1");
  const { actionRequests } = server.kept[0].body["payload"] as { readonly actionRequests: readonly object[] };
  assert.deepEqual(actionRequests, [{ name: "refund", args: { order: "4711", amount: 30 } }]);
  server.end(0, { status: "answered", answer: { decisions: [decision] } });
  assert.deepEqual(await exited, [0, null]);
  assert.equal(server.kept.length, 1);
  return printed;
}

for (const name of Object.keys(PROGRAMS)) {
  test(`${name}: an approved tool runs, and the model sees its result`, PATIENCE, async (t) => {
    const printed = await runProgram(t, name, { type: "approve" });
    assert.match(printed, /^ran 30$/m);
    assert.match(printed, /^model saw .*refunded 30/m);
  });

  test(`${name}: a rejected tool does not run, and the model sees the reason`, PATIENCE, async (t) => {
    const printed = await runProgram(t, name, { type: "reject", message: "not today" });
    assert.doesNotMatch(printed, /^ran/m);
    assert.match(printed, /^model saw .*not today/m);
  });
}
