// Rows of the calls of crons.
import type { Client, Cron } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { type Check, effects, inClient, newMark, type Row } from "./rows.ts";

const SCHEDULE = "0 0 1 1 *";

type MadeCron = Cron & { readonly payload: Readonly<Record<string, unknown>> };

const CRON_METHODS = ["create", "createForThread", "update"] as const;
type CronMethod = (typeof CRON_METHODS)[number];

async function cronWith(client: Client, method: CronMethod, options: object): Promise<MadeCron> {
  const payload = { schedule: SCHEDULE, ...options };
  if (method === "createForThread") {
    const { thread_id: id } = await client.threads.create();
    return (await client.crons.createForThread(id, "ticker", payload)) as unknown as MadeCron;
  }
  if (method === "create") return (await client.crons.create("ticker", payload)) as unknown as MadeCron;
  const { cron_id: id } = await client.crons.create("ticker", { schedule: "0 0 2 1 *" });
  return client.crons.update(id, payload);
}

/** Option, its value, and the member of the cron or of its payload that shows it. */
const CRON_OPTIONS: readonly (readonly [option: string, value: unknown, member: string, shown?: unknown])[] = [
  ["schedule", "0 0 3 1 *", "schedule"],
  ["timezone", "Europe/Berlin", "timezone"],
  ["endTime", "2099-01-01T00:00:00.000Z", "end_time"],
  ["enabled", false, "enabled"],
  ["onRunCompleted", "keep", "on_run_completed"],
  ["metadata", { colour: "red" }, "metadata"],
  ["input", { mark: "m" }, "payload.input"],
  ["config", { tags: ["t"] }, "payload.config"],
  ["context", { tone: "kind" }, "payload.context"],
  ["webhook", "https://example.com/hook", "payload.webhook"],
  ["interruptBefore", ["tick"], "payload.interrupt_before"],
  ["interruptAfter", ["tick"], "payload.interrupt_after"],
  ["multitaskStrategy", "enqueue", "payload.multitask_strategy"],
  ["checkpointDuring", false, "payload.checkpoint_during"],
  ["durability", "exit", "payload.durability"],
  ["streamMode", "updates", "payload.stream_mode"],
  ["streamSubgraphs", true, "payload.stream_subgraphs"],
  ["streamResumable", true, "payload.stream_resumable"],
];

const CRON_UNSENT =
  "_langsmithTracer afterSeconds checkpoint checkpointId command feedbackKeys ifNotExists onCompletion onDisconnect strictResume".split(
    " ",
  );
const UPDATE_UNSENT = ["multitaskStrategy", "checkpointDuring"];

const VALUE = "of-no-other-option";

const unsentBy = (method: CronMethod, option: string): Row => ({
  how: "unsent",
  check: async (bench) => {
    const options = { schedule: SCHEDULE, [option]: { projectName: VALUE, exampleId: VALUE, of: VALUE } } as never;
    const sent = await bench.listRequests(({ crons }) => {
      if (method === "create") return crons.create("ticker", options);
      return method === "update" ? crons.update("cron", options) : crons.createForThread("thread", "ticker", options);
    });
    assert.ok(sent.length > 0);
    assert.ok(!sent.includes(VALUE), sent);
  },
});

export const CRON_ROWS: readonly [string, Row][] = CRON_METHODS.flatMap((method) => {
  const isUnsent = (option: string): boolean => method === "update" && UPDATE_UNSENT.includes(option);
  const unsent = CRON_UNSENT.filter((name) => method !== "update" || name !== "feedbackKeys");
  return [
    ...effects("crons", {
      [method]: async ({ client }) => assert.equal((await cronWith(client, method, {})).schedule, SCHEDULE),
      ...Object.fromEntries(
        CRON_OPTIONS.filter(([option]) => !isUnsent(option)).map(([option, value, member]): [string, Check] => [
          `${method}.${option}`,
          async ({ client }) => {
            const cron = await cronWith(client, method, { [option]: value });
            const [name = "", inner] = member.split(".");
            const shown = (cron as unknown as Record<string, unknown>)[name];
            assert.deepEqual(inner === undefined ? shown : (shown as Record<string, unknown>)[inner], value);
          },
        ]),
      ),
    }),
    ...[...unsent, ...(method === "update" ? UPDATE_UNSENT : [])].map((option): [string, Row] => [
      `crons.${method}.${option}`,
      unsentBy(method, option),
    ]),
    ...inClient([`crons.${method}`], ["signal", "onRunCreated"]),
  ];
});

export const CRONS: Readonly<Record<string, Check>> = {
  delete: async ({ client }) => {
    const { cron_id: id } = await cronWith(client, "create", {});
    await client.crons.delete(id);
    await assert.rejects(client.crons.delete(id), /HTTP 404/);
  },
  search: async ({ client }) => assert.ok((await client.crons.search()).length >= 0),
  count: async ({ client }) => assert.ok((await client.crons.count()) >= 0),
  ...cronLists(),
};

function cronLists(): Readonly<Record<string, Check>> {
  const some = async (client: Client) => {
    const metadata = newMark();
    const first = await cronWith(client, "create", { metadata, enabled: false });
    const second = await cronWith(client, "createForThread", { metadata });
    return { metadata, first, second };
  };
  type Some = Awaited<ReturnType<typeof some>>;
  const list =
    (query: (made: Some) => object, expected: (made: Some) => readonly MadeCron[]): Check =>
    async ({ client }) => {
      const all = await some(client);
      const crons = await client.crons.search({ metadata: all.metadata, ...query(all) });
      assert.deepEqual(
        crons.map(({ cron_id: id }) => id),
        expected(all).map(({ cron_id: id }) => id),
      );
    };
  const counted =
    (query: (made: Some) => object, expected: number): Check =>
    async ({ client }) => {
      const all = await some(client);
      assert.equal(await client.crons.count({ metadata: all.metadata, ...query(all) }), expected);
    };
  const thread = ({ second }: Some) => ({ threadId: second.thread_id ?? "" });
  return {
    "search.metadata": list(
      () => ({}),
      ({ first, second }) => [second, first],
    ),
    "search.assistantId": list(
      () => ({ assistantId: "steps" }),
      () => [],
    ),
    "search.threadId": list(thread, ({ second }) => [second]),
    "search.enabled": list(
      () => ({ enabled: false }),
      ({ first }) => [first],
    ),
    "search.limit": list(
      () => ({ limit: 1 }),
      ({ second }) => [second],
    ),
    "search.offset": list(
      () => ({ offset: 1 }),
      ({ first }) => [first],
    ),
    "search.sortBy": list(
      () => ({ sortBy: "created_at", sortOrder: "asc" }),
      ({ first, second }) => [first, second],
    ),
    "search.sortOrder": list(
      () => ({ sortOrder: "asc" }),
      ({ first, second }) => [first, second],
    ),
    "search.select": async ({ client }) => {
      const { metadata } = await some(client);
      const [one] = await client.crons.search({ metadata, select: ["schedule"], limit: 1 });
      assert.deepEqual(one, { schedule: SCHEDULE });
    },
    "count.metadata": counted(() => ({}), 2),
    "count.assistantId": counted(() => ({ assistantId: "steps" }), 0),
    "count.threadId": counted(thread, 1),
  };
}
