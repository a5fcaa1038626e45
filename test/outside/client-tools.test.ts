// The official client of today in the roles of a chat page beyond text: tools that run in the page, reviews, messages that
// wait on the server, branches, and a connection that breaks.
//   client-tools.1. Tools that run in the page: two at once are answered, together or one after the other, as the page
//     notices them; the error of one is its result.
//   client-tools.2. Reviews of the middleware: approve, edit, reject.
//   client-tools.3. Messages that are sent during a run wait on the server, in order, and can be cancelled.
//   client-tools.4. A page whose connections break in the middle of a message shows what a page shows that stayed
//     connected.
//   client-tools.5. A message is edited, and a reply made anew, from the checkpoint of the message.
//   client-tools.6. A page finds the subgraphs of a run, also parallel ones of one node, and again when it is loaded anew.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startFront } from "../harness/protocol/front.ts";
import { officialClient, openPage, shows, type Page } from "../harness/protocol/sdk-clients.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { openThread, until } from "../harness/threads.ts";

const server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const say = (content: string): object => ({ messages: [{ type: "human", content }] });
let gates = 0;
const newGate = (): string => join(folder, `gate-${++gates}`);
const WHOLE = "This half came first. This half came after the wait.";

const load = async (assistantId: string, threadId = randomUUID(), more: object = {}): Promise<Page> =>
  openPage(await officialClient("1.15"), { url: server.url, threadId, assistantId, ...more });
const countRuns = async (assistantId: string, threadId: string): Promise<number> =>
  (await openThread(server, assistantId, threadId).runs()).length;

type PageTools = Parameters<Awaited<ReturnType<typeof officialClient>>["flushPendingHeadlessToolInterrupts"]>[1];

/** What the hooks of Svelte and Vue do with the option `tools`. */
async function withTools({ hook }: Page, tools: PageTools): Promise<void> {
  const { applyHeadlessToolResumeCommand, flushPendingHeadlessToolInterrupts, scheduleCoalescedHeadlessToolFlush } =
    await officialClient("1.15");
  const handled = new Set<string>();
  hook.rootStore.subscribe(() =>
    scheduleCoalescedHeadlessToolFlush(handled, () => {
      const { values, interrupts } = hook.rootStore.getSnapshot();
      flushPendingHeadlessToolInterrupts({ ...values, __interrupt__: [...interrupts] }, tools, handled, {
        defer: (run) => void Promise.resolve().then(run),
        resumeSubmit: (command) => applyHeadlessToolResumeCommand(hook, command),
      });
    }),
  );
}

describe("SDK 1.15 in a chat page", () => {
  test("two tools of the page at once, one of which throws (client-tools.1)", PATIENCE, async () => {
    const threadId = randomUUID();
    const page = await load("headless", threadId);
    const of = (name: string, execute: (args: object) => Promise<unknown>) => ({ tool: { name }, execute });
    await withTools(page, [
      of("locate", async (args) => ({ found: args })),
      of("battery", () => Promise.reject(new Error("no battery"))),
    ] as unknown as PageTools);
    const call = (id: string, name: string) => ({ id, name, args: { of: id } });
    await page.hook.submit({ calls: [call("one", "locate"), call("two", "battery")] });
    await shows("the end", () => page.texts().at(-1) === "done");
    const results = page.shown().messages.filter(({ type }) => type === "tool");
    assert.deepEqual(
      results.map(({ text }) => JSON.parse(text) as unknown),
      [{ found: { of: "one" } }, { error: "no battery" }],
    );
    assert.ok([2, 3].includes(await countRuns("headless", threadId)));
    await page.close();
  });

  for (const [decision, result] of [
    [{ type: "approve" }, "refunded 5 for A1"],
    [{ type: "edit", editedAction: { name: "refund", args: { order: "A1", amount: 3 } } }, "refunded 3 for A1"],
    [{ type: "reject", message: "not now" }, "not now"],
  ] as const) {
    test(`a review: ${decision.type} (client-tools.2)`, PATIENCE, async () => {
      const page = await load("reviewed_agent");
      await page.hook.submit(say(JSON.stringify([["refund", { order: "A1", amount: 5 }]])));
      await shows("the review", () => page.shown().interrupts.length === 1);
      const [{ id = "" } = {}] = page.shown().interrupts;
      await page.hook.respond({ decisions: [decision] }, { interruptId: id });
      await shows("the reply", () => page.texts().at(-1)?.includes(result) === true && !page.shown().isLoading);
      assert.equal(page.shown().interrupts.length, 0);
      await page.close();
    });
  }

  test("messages that wait on the server (client-tools.3)", PATIENCE, async () => {
    const threadId = randomUUID();
    const page = await load("writer", threadId, { queue: "server" });
    const texts = [newGate(), newGate(), newGate(), newGate()] as const;
    const first = page.hook.submit(say(texts[0]));
    await shows("half of the reply", () => page.texts().at(-1)?.startsWith("This half") === true);
    for (const text of texts.slice(1)) void page.hook.submit(say(text), { multitaskStrategy: "enqueue" });
    const queue = () => page.hook.queueStore.getSnapshot();
    await shows("three that wait", () => queue().filter(({ id }) => id !== undefined).length === 3);
    await until("three on the server", async () => ((await countRuns("writer", threadId)) === 4 ? true : undefined));
    const reloaded = await load("writer", threadId, { queue: "server" });
    await shows("three that wait after a reload", () => reloaded.hook.queueStore.getSnapshot().length === 3);
    const [, second] = queue();
    assert.equal(await page.hook.cancelQueued(second?.id ?? ""), true);
    for (const text of texts) writeFileSync(text, "");
    await first;
    await shows("none that waits", () => queue().length === 0);
    const wanted = [texts[0], WHOLE, texts[1], WHOLE, texts[3], WHOLE];
    for (const one of [page, reloaded]) {
      await shows("all replies", () => one.texts().join() === wanted.join());
      await one.close();
    }
  });

  for (const version of ["1.12", "1.15"] as const) {
    test(`connections of ${version} that break in mid-message (client-tools.4)`, PATIENCE, async (t) => {
      const front = await startFront();
      t.after(() => front.close());
      front.to(server);
      const [client, threadId] = [await officialClient(version), randomUUID()];
      const options = { url: server.url, threadId, assistantId: "writer" };
      const [stays, breaks] = [await openPage(client, options), await openPage(client, { ...options, url: front.url })];
      const gate = newGate();
      const sent = breaks.hook.submit(say(gate));
      await shows("half of the reply", () => breaks.texts().at(-1)?.startsWith("This half") === true);
      front.cut();
      writeFileSync(gate, "");
      await sent;
      await stays.hook.hydrate(threadId);
      for (const page of [stays, breaks]) {
        await shows("the whole reply", () => page.texts().join() === [gate, WHOLE].join());
        assert.equal(page.shown().error, undefined);
        await page.close();
      }
    });
  }

  test("a message is edited, a reply is made anew (client-tools.5)", PATIENCE, async () => {
    const threadId = randomUUID();
    const page = await load("writer", threadId);
    const [one, other] = [newGate(), newGate()];
    for (const gate of [one, other]) writeFileSync(gate, "");
    await page.hook.submit(say(one));
    await shows("the reply", () => page.texts().join() === [one, WHOLE].join());
    const history = await openThread(server, "writer", threadId).history();
    const asked = history.find(({ metadata }) => metadata["step"] === 0)?.checkpoint.checkpoint_id ?? "";
    const empty = history.find(({ metadata }) => metadata["step"] === -1)?.checkpoint.checkpoint_id ?? "";
    const before = page.shown().messages.at(-1)?.id;
    await page.hook.submit(null, { forkFrom: asked });
    await shows("another reply", () => {
      const last = page.shown().messages.at(-1);
      return last?.id !== before && page.texts().join() === [one, WHOLE].join();
    });
    await page.hook.submit(say(other), { forkFrom: empty });
    await shows("the reply to the edited message", () => page.texts().join() === [other, WHOLE].join());
    await page.close();
  });

  test("eight subgraphs of one node, and a page that is loaded anew (client-tools.6)", PATIENCE, async () => {
    const threadId = randomUUID();
    const first = await load("fanned", threadId);
    const listSubgraphs = ({ hook }: Page): readonly string[] =>
      [...hook.subgraphStore.getSnapshot().values()].map(({ namespace, status }) => `${namespace.join("|")} ${status}`);
    const areComplete = (page: Page): boolean =>
      listSubgraphs(page).length === 8 && listSubgraphs(page).every((one) => /^part:\S+ complete$/.test(one));
    await first.hook.submit({});
    await shows("the subgraphs", () => areComplete(first));
    const second = await load("fanned", threadId);
    await shows("the subgraphs after a reload", () => areComplete(second));
    assert.deepEqual(new Set(listSubgraphs(second)), new Set(listSubgraphs(first)));
    assert.equal(second.hook.subgraphByNodeStore.getSnapshot().get("part")?.length, 8);
    for (const page of [first, second]) await page.close();
  });
});
