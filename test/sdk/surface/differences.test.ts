// The differences from `langgraphjs dev` that clients notice: each is checked here, and docs/how-to/migrate.md has the
// table that these rows make.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import { readEvents } from "../../harness/events.ts";
import { PATIENCE } from "../../harness/patience.ts";
import { startServerHere } from "../../harness/server-here.ts";
import { removeFolder } from "../../harness/server.ts";
import { collect, type ShownRun } from "./rows.ts";

const server = await startServerHere();
const client = new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface Difference {
  readonly subject: string;
  readonly reference: string;
  readonly here: string;
  readonly check: () => Promise<void>;
}

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

async function paused(): Promise<{ readonly id: string; readonly run: ShownRun }> {
  const id = await newThread();
  await client.runs.wait(id, "echo", { input: {} });
  const [run] = await client.runs.list(id);
  return { id, run: run as ShownRun };
}

async function postTo(
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly type: string; readonly body: Record<string, unknown> }> {
  const reply = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const type = reply.headers.get("content-type") ?? "";
  return { status: reply.status, type, body: (await reply.json()) as Record<string, unknown> };
}

const DIFFERENCES: readonly Difference[] = [
  {
    subject: "a run that pauses",
    reference: "status `success`",
    here: "status `interrupted`, `ended_by` is `pause`",
    check: async () => {
      const { run } = await paused();
      assert.deepEqual([run.status, run.ended_by], ["interrupted", "pause"]);
    },
  },
  {
    subject: "crons",
    reference: "routes answer 500",
    here: "served",
    check: async () => assert.equal(typeof (await client.crons.count()), "number"),
  },
  {
    subject: "late answers",
    reference: "accepted; they start a run that does nothing",
    here: "409 `no_pending_interrupt`, or `interrupt_stale` if they name the interrupt, with the accepted answer's name and time",
    check: async () => {
      const { id } = await paused();
      await client.runs.wait(id, "echo", { command: { resume: "yes" } });
      await assert.rejects(client.runs.wait(id, "echo", { command: { resume: "no" } }), /409.*no_pending_interrupt/s);
    },
  },
  {
    subject: "an answer that no open question takes",
    reference: "ignored, or with `strict_resume` a failed run",
    here: "refused before a run starts, with and without `strict_resume`",
    check: async () => {
      const { id } = await paused();
      const resume = { ["0".repeat(32)]: "yes" };
      await assert.rejects(client.runs.wait(id, "echo", { command: { resume } }), /interrupt_unknown/);
      assert.equal((await client.runs.list(id)).length, 1);
    },
  },
  {
    subject: "a second run while one is active",
    reference: "`multitask_strategy` is `reject` by default: 422",
    here: "`enqueue` by default; `reject` is 409 `thread_busy`",
    check: async () => {
      const id = await newThread();
      const first = await client.runs.create(id, "slow", { input: { waitMs: 60_000 } });
      const second = await client.runs.create(id, "slow", { input: { waitMs: 0 } });
      assert.equal(second.multitask_strategy, "enqueue");
      await assert.rejects(client.runs.create(id, "slow", { multitaskStrategy: "reject" }), /409.*thread_busy/s);
      await client.runs.cancel(id, first.run_id, true);
      await client.runs.join(id, second.run_id);
    },
  },
  {
    subject: "a call of a `RemoteGraph` on a thread where a call beside it has asked",
    reference: "422: the thread is busy",
    here: 'waits for the answer, and its stream says so with an event [`waiting`](../reference/agent-server.md#streams): `thread_paused` in a graph that is served here; in a program of its own the `RemoteGraph` skips the event, so give parallel calls threads of their own, or their assistant `on_paused: "reject"` in its metadata: then the call ends with `thread_paused`',
    check: async () => {
      const { id } = await paused();
      const body = { assistant_id: "echo", input: {}, on_paused: "enqueue" };
      const stream = await readEvents(server, `/threads/${id}/runs/stream`, { body });
      assert.equal((await stream.next())?.event, "waiting");
      stream.leave();
    },
  },
  {
    subject: "`run.start` of the thread protocol on a paused thread",
    reference: "its input is the answer, whatever it is",
    here: "new input, which gives the questions up, unless its keys are ids of questions; [`on_paused`](../concepts/runs-and-pauses.md#new-runs-on-a-paused-thread) can be `answer`",
    check: async () => {
      const { id } = await paused();
      const params = { assistant_id: "echo", input: { payload: "again" } };
      const { body } = await postTo(`/threads/${id}/commands`, { id: 1, method: "run.start", params });
      await client.runs.join(id, (body["result"] as { readonly run_id: string }).run_id);
      const { interrupts } = await client.threads.get(id);
      assert.deepEqual(
        Object.values(interrupts)
          .flat()
          .map(({ value }) => value),
        ["again"],
      );
    },
  },
  {
    subject: "`run.start` of another assistant on the same thread",
    reference: "`invalid_argument`",
    here: "runs it",
    check: async () => {
      const { id } = await paused();
      const params = { assistant_id: "steps", input: {} };
      const { body } = await postTo(`/threads/${id}/commands`, { id: 1, method: "run.start", params });
      assert.equal(body["type"], "success");
      await client.runs.join(id, (body["result"] as { readonly run_id: string }).run_id);
    },
  },
  {
    subject: "a run that is rolled back",
    reference: "status `error`; the hosted platform deletes its record",
    here: "the record stays: status `error`, `ended_by` is `rollback`; what the run wrote is gone",
    check: async () => {
      const id = await newThread();
      const run = await client.runs.create(id, "slow", { input: { waitMs: 60_000 } });
      await client.runs.cancel(id, run.run_id, true, "rollback");
      const after = (await client.runs.get(id, run.run_id)) as ShownRun;
      assert.deepEqual([after.status, after.ended_by], ["error", "rollback"]);
      assert.deepEqual(await client.threads.getHistory(id), []);
    },
  },
  {
    subject: "a state edit beside a delayed run",
    reference: "409",
    here: "accepted: a delayed run holds no thread until it is due",
    check: async () => {
      const { thread_id: id } = await client.threads.create({ graphId: "steps" });
      const run = await client.runs.create(id, "steps", { input: {}, afterSeconds: 3600 });
      await client.threads.updateState(id, { values: { visited: ["x"] }, asNode: "node_a" });
      await client.runs.cancel(id, run.run_id, true);
    },
  },
  {
    subject: "a stream whose start is refused",
    reference: "status 200, and an event `error`",
    here: "the status of the refusal, and its problem as JSON",
    check: async () => {
      const id = await newThread();
      const body = { assistant_id: "echo", command: { resume: "yes" } };
      const { status, type } = await postTo(`/threads/${id}/runs/stream`, body);
      assert.deepEqual([status, type], [409, "application/problem+json"]);
    },
  },
  {
    subject: "errors",
    reference: "plain text, or a dump of the validator; other texts",
    here: "`application/problem+json` with a stable `code`; see [errors](../reference/errors.md)",
    check: async () => {
      const { type, body } = await postTo("/threads/search", { limit: "many" });
      assert.deepEqual([type, body["code"]], ["application/problem+json", "invalid_request"]);
    },
  },
  {
    subject: "an unknown checkpoint",
    reference: "an empty state, 200",
    here: "404 `checkpoint_not_found`",
    check: async () => {
      const { id } = await paused();
      await assert.rejects(client.threads.getState(id, crypto.randomUUID()), /404.*checkpoint_not_found/s);
    },
  },
  {
    subject: "schemas of messages",
    reference: "definitions under other names",
    here: "one definition, `BaseMessage`",
    check: async () => {
      const { state_schema: schema } = await client.assistants.getSchemas("chat");
      assert.ok("BaseMessage" in (schema?.definitions ?? {}));
    },
  },
  {
    subject: "`assistant_id` in the metadata of runs",
    reference: "the id; older clients look for the name that they gave",
    here: "the id; `graph_id` has the name of the graph",
    check: async () => {
      const { run } = await paused();
      assert.deepEqual([run.metadata?.["assistant_id"], run.metadata?.["graph_id"]], [run.assistant_id, "echo"]);
    },
  },
  {
    subject: "`graph_id`, `assistant_id` and `created_by` in a run's metadata",
    reference: "the caller's values replace the server's; the hosted platform strips them",
    here: "stripped: the server's values stay; every other key is kept",
    check: async () => {
      const metadata = { graph_id: "x", created_by: "x", step: 9 };
      const run = await client.runs.create(await newThread(), "steps", { input: {}, metadata });
      assert.deepEqual(
        [run.metadata?.["graph_id"], run.metadata?.["created_by"], run.metadata?.["step"]],
        ["steps", "system", 9],
      );
    },
  },
  {
    subject: "`feedback_keys`",
    reference: "an event `feedback` with addresses of the hosted tracing backend, and `__feedback__` in waits",
    here: "accepted, without an event",
    check: async () => {
      const events = await collect(client.runs.stream(null, "steps", { input: {}, feedbackKeys: ["score"] }));
      assert.deepEqual([...new Set(events.map(({ event }) => event))], ["metadata", "values"]);
    },
  },
  {
    subject: "`langsmith_session_name` of runs",
    reference: "the project of the run's trace",
    here: "absent; `/info` says so with `langsmith: false`",
    check: async () => {
      const { run } = await paused();
      assert.equal("langsmith_session_name" in run, false);
      const { flags } = (await (await fetch(`${server.url}/info`)).json()) as { flags: Record<string, unknown> };
      assert.equal(flags["langsmith"], false);
    },
  },
  {
    subject: "history of A2A tasks (`historyScope`, `LangGraph-A2A-History-Scope`)",
    reference: "that of the whole context, or with `task` that of the task; at most 10 messages",
    here: "always that of the task, with `historyLength` its newest messages",
    check: async () => {
      const contextId = await newThread();
      const send = async (visited: string): Promise<string> => {
        const data = { visited: [visited] };
        const message = { messageId: crypto.randomUUID(), contextId, role: "ROLE_USER", parts: [{ data }] };
        const params = { message, configuration: { historyScope: "context" } };
        const { body } = await postTo("/a2a/steps", { jsonrpc: "2.0", id: 1, method: "SendMessage", params });
        return JSON.stringify((body["result"] as { readonly task: { readonly history: unknown } }).task.history);
      };
      assert.match(await send("first"), /first/);
      assert.match(await send("second"), /^(?!.*first).*second/);
    },
  },
  {
    subject: "results of tools in A2A replies",
    reference: "a data part for each, or those that `A2A_ALLOWED_TOOL_CALL_RESULTS` names",
    here: "none: the artifact has the answer of the agent and the values; the variable is a warning at the start",
    check: async () => {
      const data = { calls: [{ id: "one", name: "search", args: { text: "ham" } }] };
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ data }] };
      const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
      const { body } = await postTo("/a2a/tooled", call);
      const text = JSON.stringify(body["result"]);
      assert.ok(text.includes("TASK_STATE_COMPLETED") && text.includes('"done"'), text);
      assert.ok(!text.includes("found ham"), text);
    },
  },
  {
    subject: "A2UI parts of A2A replies",
    reference: "with `A2A_A2UI_ENABLED`, or `a2a.a2ui` in the assistant's metadata",
    here: "none; the variable is a warning at the start",
    check: async () => {
      const reply = await fetch(`${server.url}/a2a/steps/.well-known/agent-card.json`);
      assert.doesNotMatch(await reply.text(), /a2ui/i);
    },
  },
  {
    subject: "encrypted metadata (`LANGGRAPH_AES_JSON_KEYS`), encryption handlers (`encryption`)",
    reference: "named members of metadata are encrypted, by a key or by a handler",
    here: "the server does not start: [encryption](encryption.md) leaves metadata plain, because calls search by it",
    check: async () => {
      const started = startServerHere({ env: { LANGGRAPH_AES_JSON_KEYS: "email" } });
      await assert.rejects(started, /LANGGRAPH_AES_JSON_KEYS: .*metadata plain/);
    },
  },
  {
    subject: "`langsmith_tracer`",
    reference: "the project of the run's trace",
    here: "accepted, without an effect: traces go where [the settings](../reference/configuration.md) say",
    check: async () => {
      const { status } = await postTo("/runs/wait", {
        assistant_id: "steps",
        input: {},
        langsmith_tracer: { project_name: "p" },
      });
      assert.equal(status, 200);
    },
  },
];

suite("the differences from the reference", PATIENCE, () => {
  for (const { subject, here, check } of DIFFERENCES) test(`${subject}: ${here}`, check);

  test("the page of the move has exactly these rows", () => {
    const page = readFileSync(new URL("../../../docs/how-to/migrate.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| ---"));
    const made = DIFFERENCES.map(({ subject, reference, here }) => `| ${subject} | ${reference} | ${here} |`);
    assert.deepEqual(rows.slice(1), made);
  });
});
