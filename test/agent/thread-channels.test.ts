// Tests of the channels of the thread protocol, each as a real graph fills it.
//   thread-channels.1. Reasoning, text, tool calls and images are blocks: the deltas of each are all of it. Usage comes
//     at the end.
//   thread-channels.2. Tools: begin, output as it comes, end, error; a tool that pauses has no error. A namespace that a
//     call started names the call.
//   thread-channels.3. Custom events without and with a name, extension channels, and filters for them.
//   thread-channels.4. An agent below a tool has its messages and lifecycle under the namespace of the call, live and replayed.
//   thread-channels.5. Parallel tasks of one node are told apart. A namespace names the node before it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";
import { openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const ALL = ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"] as const;

interface Seen {
  readonly threadId: string;
  readonly events: readonly ProtocolEvent[];
}

async function run(assistant: string, input: object, channels: readonly string[] = ALL): Promise<Seen> {
  const threadId = randomUUID();
  const reader = await openEvents(server, threadId, { channels });
  await sendCommand(server, threadId, "run.start", { assistant_id: assistant, input });
  const events = await reader.until(isEnd);
  reader.close();
  const replay = await openEvents(server, threadId, { channels });
  assert.deepEqual(await replay.until(isEnd), events);
  replay.close();
  return { threadId, events };
}

const joinNamespace = ({ namespace }: ProtocolEvent): string => namespace.map((part) => part.split(":")[0]).join("/");
const datas = (events: readonly ProtocolEvent[], method: string) =>
  events.filter((event) => event.method === method).map(({ data }) => data);

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly reasoning?: string;
  readonly args?: unknown;
}

test("blocks of messages (thread-channels.1)", PATIENCE, async () => {
  const { events } = await run("spoken", {}, ["messages", "lifecycle"]);
  const [streamedTexts, shown] = [
    events.filter(({ method, namespace }) => method === "messages" && namespace[0]?.startsWith("speaks:")),
    events.filter(({ method, namespace }) => method === "messages" && namespace[0]?.startsWith("shows:")),
  ];
  const finished = datas(streamedTexts, "messages").filter(({ event }) => event === "content-block-finish");
  const deltas = new Map<unknown, string>();
  for (const { event, index, delta } of datas(streamedTexts, "messages")) {
    if (event !== "content-block-delta") continue;
    const { text, reasoning, args } = delta as { text?: string; reasoning?: string; args?: string };
    deltas.set(index, (deltas.get(index) ?? "") + (text ?? reasoning ?? args ?? ""));
  }
  const blocks = finished.map(({ content }) => content as Block);
  assert.deepEqual(
    blocks.map(({ type }) => type),
    ["reasoning", "text", "tool_call", "invalid_tool_call"],
  );
  assert.deepEqual([blocks[0]?.reasoning, blocks[1]?.text], ["Look it up.", "One moment."]);
  assert.deepEqual([deltas.get(0), deltas.get(1)], ["Look it up.", "One moment."]);
  assert.deepEqual([blocks[2]?.args, blocks[3]?.args], [{ text: "ham" }, '{"text"']);
  assert.deepEqual((datas(streamedTexts, "messages").at(-1) ?? {})["usage"], {
    input_tokens: 9,
    output_tokens: 14,
    total_tokens: 23,
  });
  const [start] = datas(streamedTexts, "messages");
  assert.ok(datas(streamedTexts, "messages").every(({ run_id: id }) => id === start?.["run_id"]));
  // Not streamed: the same events, with each block at once.
  const images = datas(shown, "messages").map(({ event, content }) => [event, (content as Block | undefined)?.type]);
  assert.deepEqual(images, [
    ["message-start", undefined],
    ["content-block-start", "text"],
    ["content-block-delta", undefined],
    ["content-block-finish", "text"],
    ...["image", "audio", "video", "file"].flatMap((type) => [
      ["content-block-start", type],
      ["content-block-finish", type],
    ]),
    ["message-finish", undefined],
  ]);
});

const call = (id: string, name: string, args: object) => ({ id, name, args });

test("tools (thread-channels.2)", PATIENCE, async () => {
  const calls = [call("s", "search", { text: "ham" }), call("f", "fail", { text: "x" })];
  const { events } = await run("tooled", { calls });
  const of = (id: string) => datas(events, "tools").filter(({ tool_call_id: one }) => one === id);
  const found = of("s").map(({ event, tool_name: name, input, delta, output }) => [
    event,
    name ?? delta ?? (output as { readonly content: string }).content,
    input,
  ]);
  assert.deepEqual(found, [
    ["tool-started", "search", { text: "ham" }],
    ["tool-output-delta", "half ", undefined],
    ["tool-output-delta", "whole", undefined],
    ["tool-finished", "found ham", undefined],
  ]);
  assert.deepEqual(
    of("f").map(({ event, message }) => [event, message]),
    [
      ["tool-started", undefined],
      ["tool-error", "no network"],
    ],
  );
  const started = events.filter(({ method, data }) => method === "lifecycle" && data["event"] === "started");
  assert.deepEqual(
    started.filter((event) => joinNamespace(event) === "tools").map(({ data }) => data["cause"]),
    ["s", "f"].map((id) => ({ type: "toolCall", tool_call_id: id })),
  );
  const models = started.filter((event) => joinNamespace(event) === "model");
  assert.deepEqual(
    models.map(({ data }) => data["cause"]),
    [undefined, { type: "edge", from_node: "tools" }],
  );
});

test("a tool that pauses (thread-channels.2)", PATIENCE, async () => {
  const { threadId, events } = await run("tooled", { calls: [call("c", "confirm", { text: "ok?" })] });
  assert.deepEqual(
    datas(events, "tools").map(({ event }) => event),
    ["tool-started"],
  );
  const at = events.findIndex(({ method }) => method === "input.requested");
  const ended = events.findIndex(({ method, data }) => method === "lifecycle" && data["event"] === "interrupted");
  assert.ok(ended < at && joinNamespace(events[ended] as ProtocolEvent) === "tools");
  assert.deepEqual(events[at]?.namespace, []);
  const id = events[at]?.data["interrupt_id"];
  const reader = await openEvents(server, threadId, { channels: ALL, since: events.at(-1)?.seq });
  await sendCommand(server, threadId, "input.respond", { interrupt_id: id, response: { yes: true } });
  const rest = datas(await reader.until(isEnd), "tools");
  assert.deepEqual(
    rest.map(({ event, tool_call_id: callId }) => [event, callId]),
    [
      ["tool-started", "c"],
      ["tool-finished", "c"],
    ],
  );
  reader.close();
});

test("custom events and extension channels (thread-channels.3)", PATIENCE, async () => {
  const events = await Promise.all(
    ["custom", "custom:a", "custom:progress"].map((channel) => run("extended", {}, [channel, "lifecycle"])),
  );
  const [all, named, progress] = events.map((one) => datas(one.events, "custom"));
  assert.deepEqual(all, [
    { name: "progress", payload: 1 },
    { payload: "one" },
    { name: "progress", payload: 2 },
    { name: "a", payload: "two" },
    { name: "sum", payload: 2 },
  ]);
  assert.deepEqual(named, [{ name: "a", payload: "two" }]);
  assert.deepEqual(progress, [
    { name: "progress", payload: 1 },
    { name: "progress", payload: 2 },
  ]);
  const { events: withUpdates } = await run("teller", {}, ["updates", "lifecycle"]);
  const [first] = withUpdates.filter(({ method }) => method === "updates");
  assert.deepEqual(first?.data, { node: "tells", values: {} });
});

test("an agent below a tool (thread-channels.4)", PATIENCE, async () => {
  const calls = ["one", "two"].map((id) => call(id, "task", { description: `dig ${id}`, subagent_type: "helper" }));
  const { events } = await run("tooled", { calls });
  const started = events.filter(({ method, data }) => method === "lifecycle" && data["event"] === "started");
  for (const { id } of calls) {
    const own = started.find(({ data }) => JSON.stringify(data["cause"] ?? null).includes(`"${id}"`))?.namespace ?? [];
    const below = events.filter(({ namespace }) => namespace.length > own.length && namespace[0] === own[0]);
    const texts = datas(below, "messages").filter(({ event }) => event === "content-block-finish");
    assert.deepEqual(
      texts.map(({ content }) => (content as Block).text),
      [`Did dig ${id}.`],
    );
    assert.deepEqual(
      below.filter(({ method }) => method === "lifecycle").map(({ data }) => data["event"]),
      ["started", "completed"],
    );
  }
});

test("eight tasks of one node (thread-channels.5)", PATIENCE, async () => {
  const { threadId, events } = await run("fanned", {});
  const parts = events.filter((event) => event.method === "lifecycle" && joinNamespace(event) === "part");
  assert.equal(new Set(parts.map(({ namespace }) => namespace[0])).size, 8);
  assert.equal(parts.filter(({ data }) => data["event"] === "completed").length, 8);
  const causes = parts.filter(({ data }) => data["event"] === "started").map(({ data }) => data["cause"]);
  assert.deepEqual(
    causes,
    causes.map(() => ({ type: "send", from_node: "plan" })),
  );
  const { result } = await sendCommand(server, threadId, "agent.getTree", {});
  const tree = result["tree"] as { readonly children: readonly { readonly status: string }[] };
  assert.deepEqual(new Set(tree.children.map(({ status }) => status)), new Set(["completed"]));
  assert.equal(tree.children.length, 8);
});

test("the node before a subgraph (thread-channels.5)", PATIENCE, async () => {
  const { events } = await run("teller", {}, ["lifecycle"]);
  const started = events.filter(({ data }) => data["event"] === "started");
  assert.deepEqual(
    started.map((event) => [joinNamespace(event), event.data["cause"]]),
    [
      ["speaks", { type: "edge", from_node: "tells" }],
      ["inner", { type: "edge", from_node: "speaks" }],
    ],
  );
  const { events: parallel } = await run("nested_parallel", {}, ["lifecycle"]);
  for (const { data } of parallel) assert.ok(!("cause" in data)); // the first superstep, and parallel nodes
});
