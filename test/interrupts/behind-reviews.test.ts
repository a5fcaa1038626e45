// The table "path × change behind a decision": an approval under review rules is not used for another state.
//   behind-reviews.1. At or behind the checkpoint of such a decision, an update, an edit from which the graph goes on, a
//        node of a command and a run from a checkpoint need threads:bypass.
//   behind-reviews.2. Whoever has the right leaves `bypassed` in the trail, with the decision.
//   behind-reviews.3. New input, and work in front of the question, stay free: the question is asked again.
//   behind-reviews.4. Threads without review rules stay free.
//   behind-reviews.5. From the checkpoint of a breakpoint that nobody decided, a run goes past it: the same right.
//   behind-reviews.6. A command that does not start at once may start behind a decision of the future: the same right.
//        Where only a payload brought the rules, it fails at its start, and changes nothing.
//   behind-reviews.7. A breakpoint of a state that somebody wrote has the rules of the assistant that would continue it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Asked, askOn, post, read, startWorld, type Who } from "../harness/channels/world.ts";
import { findGate } from "../graphs/gates.ts";
import { PATIENCE } from "../harness/patience.ts";
import type { Answer } from "../harness/server.ts";

const world = await startWorld();
after(() => world.close());

interface Paid extends Asked {
  /** Checkpoints by the node that comes next. */
  readonly before: { readonly ask: string; readonly pay: string };
}

/** ann approved "Pay 5 to shop?", and it was paid. */
async function payOnce(reviewed: boolean): Promise<Paid> {
  const threadId = String((await post(world, "starter", "/threads", {})).body["thread_id"]);
  const path = `/threads/${threadId}`;
  const input = { amount: 5, to: "shop", reviewed };
  const asked = await post(world, "starter", `${path}/runs/wait`, { assistant_id: "pay", input });
  const [open] = asked.body["__interrupt__"] as readonly { readonly id: string }[];
  const interruptId = open?.id ?? assert.fail(asked.text);
  const command = { resume: { [interruptId]: { approved: true } } };
  const paid = await post(world, "ann", `${path}/runs/wait`, { assistant_id: "pay", command });
  assert.equal(paid.body["paid"], "PAID 5 to shop", paid.text);
  const history = (await read(world, `${path}/history`)).body as unknown as readonly {
    readonly next: readonly string[];
    readonly checkpoint: { readonly checkpoint_id: string };
  }[];
  const find = (node: string): string =>
    history.find(({ next }) => next[0] === node)?.checkpoint.checkpoint_id ?? assert.fail(node);
  return { threadId, interruptId, runId: "", assistant: "pay", before: { ask: find("ask"), pay: find("pay") } };
}

const MORE = { amount: 1_000_000, to: "mallory" };
type Change = (paid: Paid, who: Who) => Promise<Answer>;

const run =
  (body: (paid: Paid) => object, path = "/runs/wait"): Change =>
  (paid, who) =>
    post(world, who, `/threads/${paid.threadId}${path}`, { assistant_id: "pay", ...body(paid) });
const edit =
  (body: (paid: Paid) => object): Change =>
  ({ threadId, ...paid }, who) =>
    post(world, who, `/threads/${threadId}/state`, { values: MORE, ...body({ threadId, ...paid }) });

/** At an older checkpoint it needs the right on every thread. */
const IN_ITS_NAME = "an edit in its name at its checkpoint";

const COMMANDS = {
  "an update at the checkpoint behind it": (paid: Paid) => ({
    command: { update: MORE },
    checkpoint_id: paid.before.pay,
  }),
  "an update at its own checkpoint": (paid: Paid) => ({ command: { update: MORE }, checkpoint_id: paid.before.ask }),
  "a node on the idle thread": () => ({ command: { goto: "pay", update: MORE } }),
  "a node with its input": () => ({
    command: { goto: { node: "pay", input: { ...MORE, answer: { approved: true } } } },
  }),
  "a run from the checkpoint behind it": (paid: Paid) => ({ input: null, checkpoint_id: paid.before.pay }),
};
const CHANGES: readonly (readonly [name: string, change: Change])[] = [
  ...Object.entries(COMMANDS).map(([name, body]) => [name, run(body)] as const),
  ...["/runs", "/runs/stream"].map(
    (path) => [`a node over ${path}`, run(COMMANDS["a node on the idle thread"], path)] as const,
  ),
  ["an edit at the checkpoint behind it", edit(({ before }) => ({ checkpoint_id: before.pay }))],
  ["an edit in the name of the node that asked", edit(() => ({ as_node: "ask" }))],
  [IN_ITS_NAME, edit(({ before }) => ({ as_node: "ask", checkpoint_id: before.ask }))],
  [
    "a fork over the thread protocol",
    async ({ threadId, before }, who) => {
      const params = { checkpoint_id: before.pay };
      const reply = await post(world, who, `/threads/${threadId}/commands`, { id: 1, method: "state.fork", params });
      return reply.text.includes("forbidden") ? { ...reply, status: 403 } : reply;
    },
  ],
];

const readValues = async ({ threadId }: Paid): Promise<unknown> =>
  (await read(world, `/threads/${threadId}/state`)).body["values"];

async function listBypassed({ threadId }: Paid): Promise<readonly (readonly [by: string, id: string | null])[]> {
  const { items } = (await read(world, `/threads/${threadId}/audit`)).body as unknown as {
    readonly items: readonly { readonly action: string; readonly by: string; readonly interrupt_id: string | null }[];
  };
  return items.filter(({ action }) => action === "bypassed").map(({ by, interrupt_id: id }) => [by, id]);
}

for (const [name, change] of CHANGES) {
  test(`${name} is refused after a review (behind-reviews.1)`, PATIENCE, async () => {
    const paid = await payOnce(true);
    const values = await readValues(paid);
    const reply = await change(paid, "bob");
    assert.equal(reply.status, 403, reply.text);
    assert.deepEqual(await readValues(paid), values);
    assert.deepEqual(await listBypassed(paid), []);
  });
}

const TRAILED = CHANGES.filter(([name]) => !name.includes("/runs"));

for (const [name, change] of TRAILED)
  test(`${name} leaves a trail (behind-reviews.2)`, PATIENCE, async () => {
    const paid = await payOnce(true);
    const reply = await change(paid, "root");
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(await listBypassed(paid), [["root", paid.interruptId]]);
  });

for (const [name, change] of TRAILED.filter(([one]) => one !== IN_ITS_NAME))
  test(`${name} is free without review rules (behind-reviews.4)`, PATIENCE, async () => {
    const paid = await payOnce(false);
    const reply = await change(paid, "bob");
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(await listBypassed(paid), []);
  });

const FREE: readonly (readonly [name: string, change: Change])[] = [
  ["new input", run(() => ({ input: { ...MORE, reviewed: true } }))],
  ["new input at the checkpoint behind it", run(({ before }) => ({ input: MORE, checkpoint_id: before.pay }))],
  ["an edit at the end", edit(() => ({}))],
  [
    "an edit at the question that new input asked",
    async (paid, who) => {
      await run(() => ({ input: { amount: 7, to: "shop", reviewed: true } }))(paid, who);
      return edit(() => ({}))(paid, who);
    },
  ],
];

for (const [name, change] of FREE)
  test(`${name} is free after a review, and pays nothing unasked (behind-reviews.3)`, PATIENCE, async () => {
    const paid = await payOnce(true);
    const reply = await change(paid, "bob");
    assert.equal(reply.status, 200, reply.text);
    await post(world, "bob", `/threads/${paid.threadId}/runs/wait`, { assistant_id: "pay", input: null });
    const values = (await readValues(paid)) as { readonly paid?: string };
    assert.ok(values.paid === undefined || values.paid === "PAID 5 to shop", String(values.paid));
  });

/** Paused in front of `node_b`, where only ann may continue. */
interface Stopped {
  readonly path: string;
  readonly checkpoint: string;
  readonly run: (who: Who | "starter", body: object) => Promise<Answer>;
  readonly edit: (who: Who, body?: object) => Promise<Answer>;
}

const metadata = { interrupt_review: { assignees: ["ann"], four_eyes: true } };
const reviewed = post(world, "root", "/assistants", { graph_id: "compiled", metadata });
const FORGED = { visited: ["forged"] };

async function stop(): Promise<Stopped> {
  const assistant = (await reviewed).body["assistant_id"];
  const path = `/threads/${String((await post(world, "starter", "/threads", {})).body["thread_id"])}`;
  const start: Stopped["run"] = (who, body) =>
    post(world, who, `${path}/runs/wait`, { assistant_id: assistant, ...body });
  const change: Stopped["edit"] = (who, body) => post(world, who, `${path}/state`, { values: FORGED, ...body });
  const started = await start("starter", { input: { visited: [] } });
  assert.deepEqual(started.body["visited"], ["node_a"], started.text);
  const { checkpoint } = (await read(world, `${path}/state`)).body as { checkpoint: { checkpoint_id: string } };
  return { path, checkpoint: checkpoint.checkpoint_id, run: start, edit: change };
}

const again = ({ run: start }: Stopped): Promise<Answer> => start("bob", { input: { visited: ["again"] } });
const end = ({ run: start }: Stopped): Promise<Answer> => start("bob", { command: { goto: "__end__" } });

/** Bob gives the breakpoint up, which is free; then someone goes past it from its checkpoint. */
type Pass = (stopped: Stopped, who: Who) => Promise<Answer>;
const PASSES: readonly (readonly [name: string, giveUp: (stopped: Stopped) => Promise<Answer>, pass: Pass])[] = [
  ["a run from it", again, ({ run: start, checkpoint }, who) => start(who, { input: null, checkpoint_id: checkpoint })],
  [
    "an update at it",
    again,
    ({ run: start, checkpoint }, who) => start(who, { command: { update: FORGED }, checkpoint_id: checkpoint }),
  ],
  [
    "a run from it behind an edit",
    ({ edit: change }) => change("bob"),
    ({ run: start, checkpoint }, who) => start(who, { input: null, checkpoint_id: checkpoint }),
  ],
  ["an edit of it", end, ({ edit: change, checkpoint }, who) => change(who, { checkpoint_id: checkpoint })],
  [
    "a fork over the thread protocol",
    again,
    async ({ path, checkpoint }, who) => {
      const params = { checkpoint_id: checkpoint };
      const reply = await post(world, who, `${path}/commands`, { id: 1, method: "state.fork", params });
      return reply.text.includes("forbidden") ? { ...reply, status: 403 } : reply;
    },
  ],
];

for (const [name, giveUp, pass] of PASSES)
  test(`nobody decided a breakpoint: ${name} goes past it (behind-reviews.5)`, PATIENCE, async () => {
    const stopped = await stop();
    const given = await giveUp(stopped);
    assert.equal(given.status, 200, given.text);
    const before = await read(world, `${stopped.path}/state`);
    const refused = await pass(stopped, "bob");
    assert.equal(refused.status, 403, refused.text);
    assert.deepEqual(await read(world, `${stopped.path}/state`), before);
    const reply = await pass(stopped, "root");
    assert.equal(reply.status, 200, reply.text);
    const { body } = await read(world, `${stopped.path}/audit`);
    const trail = body["items"] as readonly { readonly action: string; readonly by: string }[];
    assert.ok(
      trail.some(({ action, by }) => action === "bypassed" && by === "root"),
      JSON.stringify(trail),
    );
  });

test("two edits of a breakpoint: the state of the first has its rules (behind-reviews.5)", PATIENCE, async () => {
  const { run: start, edit: change } = await stop();
  const first = (await change("bob")).body["checkpoint"] as { readonly checkpoint_id: string };
  assert.equal((await change("bob")).status, 200);
  const refused = await start("bob", { input: null, checkpoint_id: first.checkpoint_id });
  assert.equal(refused.status, 403, refused.text);
});

test("an edit that brings a breakpoint up again keeps its rules (behind-reviews.5)", PATIENCE, async () => {
  const stopped = await stop();
  assert.equal((await end(stopped)).status, 200);
  const edited = await stopped.edit("root", { checkpoint_id: stopped.checkpoint });
  assert.equal(edited.status, 200, edited.text);
  const refused = await stopped.run("bob", { input: null });
  assert.equal(refused.status, 403, refused.text);
  const continued = await stopped.run("ann", { input: null });
  assert.deepEqual(continued.body["visited"], ["node_a", "forged", "node_b", "node_c"], continued.text);
});

test("a copy knows the decision on a breakpoint (behind-reviews.1)", PATIENCE, async () => {
  const { path, run: start, checkpoint } = await stop();
  const continued = await start("ann", { input: null });
  assert.deepEqual(continued.body["visited"], ["node_a", "node_b", "node_c"], continued.text);
  const copied = await post(world, "bob", `${path}/copy`, {});
  const copy = `/threads/${String(copied.body["thread_id"])}`;
  for (const at of [path, copy]) {
    const refused = await post(world, "bob", `${at}/state`, { values: FORGED, checkpoint_id: checkpoint });
    assert.equal(refused.status, 403, refused.text);
  }
});

const LATER: readonly (readonly [name: string, more: object])[] = [
  ["behind a question", { on_paused: "enqueue" }],
  ["after a time", { after_seconds: 3600 }],
];

for (const [name, more] of LATER)
  test(`an update that starts ${name} needs the right now (behind-reviews.6)`, PATIENCE, async () => {
    const { threadId } = await askOn(world, { question: "Pay?", review_rules: { assignees: ["ann"] } });
    const update = { assistant_id: "echo", command: { update: { payload: "Pay more?" } }, ...more };
    const refused = await post(world, "bob", `/threads/${threadId}/runs`, update);
    assert.equal(refused.status, 403, refused.text);
    const reply = await post(world, "root", `/threads/${threadId}/runs`, update);
    assert.equal(reply.status, 200, reply.text);
    const { body } = await read(world, `/threads/${threadId}/audit`);
    const trail = body["items"] as readonly { readonly action: string; readonly by: string }[];
    assert.deepEqual(
      trail.map(({ action, by }) => [action, by]),
      [["bypassed", "root"]],
    );
    const { threadId: plain } = await askOn(world, "Pay?");
    assert.equal((await post(world, "bob", `/threads/${plain}/runs`, update)).status, 200);
  });

test("a delayed update under an assistant's rules needs it on a new thread (behind-reviews.6)", PATIENCE, async () => {
  const path = `/threads/${String((await post(world, "starter", "/threads", {})).body["thread_id"])}/runs`;
  const later = { command: { update: FORGED }, after_seconds: 3600 };
  const assistant = (await reviewed).body["assistant_id"];
  const send = (who: Who, id: unknown): Promise<Answer> => post(world, who, path, { assistant_id: id, ...later });
  const replies = [await send("bob", assistant), await send("root", assistant), await send("bob", "compiled")];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [403, 200, 200],
  );
});

test("a node that starts later needs it before a question is asked (behind-reviews.6)", PATIENCE, async () => {
  const path = `/threads/${String((await post(world, "starter", "/threads", {})).body["thread_id"])}/runs`;
  const later = { assistant_id: "pay", command: { goto: "pay", update: MORE }, after_seconds: 3600 };
  const replies = [await post(world, "bob", path, later), await post(world, "root", path, later)];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [403, 200],
  );
});

const OVERTAKEN: readonly (readonly [name: string, body: (at: string) => object, isFree: boolean])[] = [
  ["an update", () => ({ command: { update: MORE } }), false],
  ["a run from the checkpoint of the question", (at) => ({ input: null, checkpoint_id: at }), false],
  ["an update that ends the thread", () => ({ command: { update: MORE, goto: "__end__" } }), true],
];

for (const [name, body, isFree] of OVERTAKEN)
  for (const who of ["bob", "root"] as const)
    test(
      `${name} of ${who} that waited behind a decision ${isFree ? "runs" : "fails"} (behind-reviews.6)`,
      PATIENCE,
      async () => {
        const path = `/threads/${String((await post(world, "starter", "/threads", {})).body["thread_id"])}`;
        const input = { amount: 5, to: "shop", reviewed: true };
        const { body: first } = await post(world, "starter", `${path}/runs`, { assistant_id: "slow_pay", input });
        const at = await findStart(path);
        const queued = await post(world, who, `${path}/runs`, { assistant_id: "slow_pay", ...body(at) });
        assert.equal(queued.status, 200, queued.text);
        findGate(String(first["thread_id"])).resolve();
        const { body: asked } = await read(world, `${path}/runs/${String(first["run_id"])}/join`);
        const [open] = asked["__interrupt__"] as readonly { readonly id: string }[];
        const command = { resume: { [open?.id ?? ""]: { approved: true } } };
        const failed = await post(world, "ann", `${path}/runs/wait`, { assistant_id: "slow_pay", command });
        assert.match(failed.text, /no money/);
        await read(world, `${path}/runs/${String(queued.body["run_id"])}/join`);
        const { body: run } = await read(world, `${path}/runs/${String(queued.body["run_id"])}`);
        const values = (await read(world, `${path}/state`)).body["values"] as Record<string, unknown>;
        const ended = isFree ? ["success", MORE.amount, undefined] : ["error", 5, undefined];
        assert.deepEqual([run["status"], values["amount"], values["paid"]], ended);
        assert.equal(JSON.stringify(run).includes("threads:bypass"), !isFree);
      },
    );

/** The checkpoint at which the first node begins. */
async function findStart(path: string): Promise<string> {
  for (;;) {
    const { body } = await read(world, `${path}/state`);
    const { checkpoint, next } = body as { checkpoint: { checkpoint_id: string } | null; next: readonly string[] };
    if (checkpoint !== null && next.length > 0) return checkpoint.checkpoint_id;
  }
}

const MADE: readonly (readonly [name: string, make: () => Promise<Answer>])[] = [
  [
    "a thread with a state",
    () =>
      post(world, "bob", "/threads", {
        metadata: { graph_id: "compiled" },
        supersteps: [{ updates: [{ values: FORGED, as_node: "node_a" }] }],
      }),
  ],
  [
    "an edit of a new thread",
    async () => {
      const made = await post(world, "bob", "/threads", { metadata: { graph_id: "compiled" } });
      const path = `/threads/${String(made.body["thread_id"])}/state`;
      const edited = await post(world, "bob", path, { values: FORGED, as_node: "node_a" });
      assert.equal(edited.status, 200, edited.text);
      return made;
    },
  ],
];

for (const [name, make] of MADE)
  test(`${name} pauses under the rules of the assistant that continues it (behind-reviews.7)`, PATIENCE, async () => {
    const made = await make();
    const path = `/threads/${String(made.body["thread_id"])}/runs/wait`;
    const body = { assistant_id: (await reviewed).body["assistant_id"], input: null };
    for (const who of ["bob", "cyd"] as const) {
      const refused = await post(world, who, path, body);
      assert.equal(refused.status, 403, refused.text);
    }
    const continued = await post(world, "ann", path, body);
    assert.deepEqual(continued.body["visited"], ["forged", "node_b", "node_c"], continued.text);
  });
