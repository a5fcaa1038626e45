// Votes over the gateways: an answer that only counts is a clear result for the official clients, not a failure.
//   gateway-votes.1. The client learns that its answer counts, and how many are missing; the run stays paused.
//   gateway-votes.2. The vote of another person completes the decision.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TaskState } from "@a2a-js/sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { read, REVIEW_GRAPHS } from "../harness/reviews/questions.ts";
import { removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { answerTo, connect, data, send, readState, text, joinTexts, values, VERSIONS } from "./a2a-client.ts";

const server = await startServerHere({ config: REVIEW_GRAPHS });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const asWho = (who: string) => ({ authorization: `Bearer ${who}` });
const PAYLOAD = { question: "How many?", review_rules: { approvals: 2 } };
const COUNTED = /counted.* 1 of 2 approvals/;

interface Outcome {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: {
    readonly status: string;
    readonly thread_id: string;
    readonly interrupts?: readonly { readonly id: string }[];
    readonly values?: Readonly<Record<string, unknown>>;
  };
}

interface Caller {
  readonly run: (name: string, args: object) => Promise<Outcome>;
  readonly close: () => Promise<void>;
}

/** Counts how often the user of the client is asked. */
interface User {
  asked: number;
}

const REPLY = { action: "accept" as const, content: { answer: "3" } };

async function modern(who: string, user: User | null): Promise<Caller> {
  const client = new Client(
    { name: "test", version: "2" },
    { capabilities: user === null ? {} : { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  if (user !== null)
    client.setRequestHandler("elicitation/create", async () => {
      user.asked++;
      return REPLY;
    });
  const requestInit = { headers: asWho(who) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  return {
    run: async (name, args) => (await client.callTool({ name, arguments: { ...args } })) as unknown as Outcome,
    close: () => client.close(),
  };
}

async function legacy(who: string, user: User | null): Promise<Caller> {
  const client = new OldClient(
    { name: "test", version: "1" },
    { capabilities: user === null ? {} : { elicitation: {} } },
  );
  if (user !== null)
    client.setRequestHandler(ElicitRequestSchema, async () => {
      user.asked++;
      return REPLY;
    });
  const requestInit = { headers: asWho(who) };
  await client.connect(new OldTransport(new URL(`${server.url}/mcp`), { requestInit }));
  return {
    run: async (name, args) => (await client.callTool({ name, arguments: { ...args } })) as unknown as Outcome,
    close: () => client.close(),
  };
}

for (const [revision, open] of Object.entries({ "2025": legacy, "2026": modern })) {
  test(`MCP, revision ${revision}: a vote by the answering tool is counted (gateway-votes.1, gateway-votes.2)`, async () => {
    const [ann, bob] = [await open("ann", null), await open("bob", null)];
    const paused = await ann.run("echo", { payload: PAYLOAD });
    const { thread_id, interrupts } = paused.structuredContent ?? {};
    const answer = { thread_id, interrupt_id: interrupts?.[0]?.id, answer: "3" };
    const counted = await ann.run("resume", answer);
    assert.notEqual(counted.isError, true, JSON.stringify(counted));
    assert.match(counted.content.map((part) => part.text).join("\n"), COUNTED);
    assert.equal(counted.structuredContent?.status, "paused");
    const ended = await bob.run("resume", answer);
    assert.deepEqual(ended.structuredContent?.values?.["answer"], ["3"]);
    for (const client of [ann, bob]) await client.close();
  });

  test(`MCP, revision ${revision}: a vote by an elicitation is counted, and asked once (gateway-votes.1)`, async () => {
    const user: User = { asked: 0 };
    const client = await open("ann", user);
    const counted = await client.run("echo", { payload: PAYLOAD });
    assert.notEqual(counted.isError, true, JSON.stringify(counted));
    assert.match(counted.content.map((part) => part.text).join("\n"), COUNTED);
    assert.deepEqual([counted.structuredContent?.status, user.asked], ["paused", 1]);
    const { thread_id, interrupts } = counted.structuredContent ?? {};
    const { body } = await read(server, `/inbox/${thread_id}/${interrupts?.[0]?.id}`);
    const { votes } = body["review"] as { readonly votes: readonly { readonly by: string }[] };
    assert.deepEqual(
      votes.map(({ by }) => by),
      ["ann"],
    );
    await client.close();
  });
}

for (const version of VERSIONS) {
  test(`A2A, version ${version}: a vote leaves the task open and says so (gateway-votes.1, gateway-votes.2)`, async () => {
    const place = (who: string) => ({ url: server.url, headers: asWho(who) });
    const [ann, bob] = [await connect("echo", version, place("ann")), await connect("echo", version, place("bob"))];
    const paused = await send(ann, [data({ payload: PAYLOAD })]);
    const counted = await send(ann, [text("3")], answerTo(paused));
    assert.equal(readState(counted), TaskState.TASK_STATE_INPUT_REQUIRED);
    assert.match(joinTexts(counted.status?.message?.parts ?? []), COUNTED);
    const ended = await send(bob, [text("3")], answerTo(paused));
    assert.equal(readState(ended), TaskState.TASK_STATE_COMPLETED);
    assert.deepEqual(values(ended)["answer"], ["3"]);
  });
}
