// The official clients of today against a server process: `client.threads.stream()`, and the controller behind the
// hooks of all frameworks, each with the versions that front ends use.
//   client-versions.1. Text and states of a run; a second run of the same page ends when it ends, not before.
//   client-versions.2. A page that is loaded anew in the middle of a run shows it, and its end.
//   client-versions.3. Interrupts are answered by id: one of several, then the rest in one command; also after a
//        reload.
//   client-versions.4. Two pages on one thread show the same; an answer of one, or over REST, reaches both.
//   client-versions.5. A failed run is an error of the page; stop() ends a run; the page continues after both.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { CLIENT_VERSIONS, officialClient, openPage, shows, type Page } from "../harness/protocol/sdk-clients.ts";
import { removeFolder, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import { followLog, newNotes, newThread, openThread } from "../harness/threads.ts";

let server: TestServer;
const folder = temporaryFolder();
before(async () => {
  server = await startServer();
});
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

let gates = 0;
const newGate = (): string => join(folder, `gate-${++gates}`);
const say = (content: string): object => ({ messages: [{ type: "human", content }] });
const WHOLE = "This half came first. This half came after the wait.";

/** The stream has shown the interrupts that the state did: later ones are new to the page. */
const isReplayed = (page: Page): boolean => {
  const told = page.hook.getThread()?.interrupts.map(({ interruptId }) => interruptId) ?? [];
  return page.shown().interrupts.every(({ id }) => told.includes(id ?? ""));
};
const halfShown = (page: Page, count: number): boolean =>
  page.texts().length === count && (page.texts().at(-1) ?? "").startsWith("This half came first.");

for (const version of CLIENT_VERSIONS) {
  describe(`SDK ${version}`, () => {
    /** Until 1.12.8 the end of an earlier run that arrives late is taken for the end of the page's own. */
    const knowsRuns = version === "1.15";
    /** Until 1.14 a page keeps an answered question until it acts. */
    const readsAnswered = version === "1.15";
    /** 1.9 gets the questions of others' runs, but its page does not show them. */
    const showsOthers = version !== "1.9";
    const load = async (assistantId: string, threadId: string): Promise<Page> =>
      openPage(await officialClient(version), { url: server.url, threadId, assistantId });

    test("threads.stream(): text, states, two runs in a row (client-versions.1)", PATIENCE, async () => {
      const { Client } = await officialClient(version);
      const thread = new Client({ apiUrl: server.url, apiKey: null }).threads.stream(randomUUID(), {
        assistantId: "teller",
      });
      const ends: string[] = [];
      const texts: string[] = [];
      thread.onEvent(({ method, params: { namespace, data } }) => {
        const { event, delta } = data as { readonly event: string; readonly delta?: { readonly text?: string } };
        if (method === "lifecycle" && namespace.length === 0 && event !== "running") ends.push(event);
        if (method === "messages" && delta?.text !== undefined) texts.push(delta.text);
      });
      await thread.subscribe(["messages", "values"]);
      for (const count of [1, 2]) {
        await thread.submitRun({ input: {} });
        await shows("the end", () => ends.length === count);
      }
      assert.deepEqual(ends, ["completed", "completed"]);
      await shows("the text of both", () => texts.join("") === "Hi!Hi!");
      const { values } = await thread.state.get({ namespace: [] });
      assert.equal((values as { readonly messages: readonly unknown[] }).messages.length, 2);
      await thread.close();
    });

    test("a page is loaded anew in mid-run (client-versions.2)", PATIENCE, async () => {
      const [threadId, gate] = [randomUUID(), newGate()];
      const first = await load("writer", threadId);
      const sent = first.hook.submit(say(gate));
      await shows("half of the message", () => halfShown(first, 2));
      assert.equal(first.shown().isLoading, true);

      const second = await load("writer", threadId);
      await shows("half of the message after the reload", () => halfShown(second, 2));
      await shows("a run in progress", () => second.shown().isLoading);
      writeFileSync(gate, "");
      await sent;
      await shows("the end", () => !second.shown().isLoading);
      for (const page of [first, second]) {
        await shows("the whole message", () => page.texts().at(-1) === WHOLE);
        assert.deepEqual(page.texts(), [gate, WHOLE]);
        assert.equal(page.shown().error, undefined);
      }
      const later = newGate();
      let settled = false;
      const again = second.hook.submit(say(later)).finally(() => (settled = true));
      await shows("half of the second message", () => halfShown(second, 4));
      if (knowsRuns) assert.equal(settled, false, "the submit of a reloaded page lasts as long as its run");
      writeFileSync(later, "");
      await again;
      // The end may come on another connection than the text.
      await shows("the second message", () => second.texts().at(-1) === WHOLE);
      assert.deepEqual(second.texts(), [gate, WHOLE, later, WHOLE]);
      for (const page of [first, second]) await page.close();
    });

    test(
      "several interrupts: one, then the rest, the rest by a reloaded page (client-versions.3)",
      PATIENCE,
      async () => {
        const threadId = randomUUID();
        const first = await load("parallel", threadId);
        await first.hook.submit({});
        await shows("three questions", () => first.shown().interrupts.length === 3);
        const asked = first.shown().interrupts.map(({ id }) => id ?? "");
        await first.hook.respond("one", { interruptId: asked[0] ?? "" });
        await shows("two questions", () => first.shown().interrupts.length === 2 && !first.shown().isLoading);
        await openThread(server, "parallel", threadId).reaches("interrupted");
        await first.close();

        const second = await load("parallel", threadId);
        await shows("the two that are open", () => second.shown().interrupts.length === 2);
        const open = second.shown().interrupts.map(({ id }) => id ?? "");
        assert.deepEqual(open.toSorted(), asked.slice(1).toSorted());
        await assert.rejects(second.hook.respondAll({ [asked[0] ?? ""]: "again", [open[0] ?? ""]: "x" }));
        await second.hook.respondAll(Object.fromEntries(open.map((id) => [id, "both"])));
        const { values } = await followLog(server, "the end of the run", async () => {
          const state = await openThread(server, "parallel", threadId).state();
          return state.next.length === 0 ? state : undefined;
        });
        assert.equal((values["done"] as readonly unknown[]).length, 4);
        await shows("no question", () => second.shown().interrupts.length === 0);
        await second.close();
      },
    );

    test("an answer in one page, and one over REST, reach the other page (client-versions.4)", PATIENCE, async () => {
      const thread = await newThread(server, "series");
      await thread.run({ input: {} });
      const pages = [await load("series", thread.threadId), await load("series", thread.threadId)] as const;
      const asked = async (step: string): Promise<string> => {
        for (const page of pages)
          await shows(`question ${step}`, () => {
            const values = showsOthers
              ? page.shown().interrupts.map(({ value }) => value)
              : (page.hook.getThread()?.interrupts ?? []).map(({ payload }) => payload);
            const steps = values.map((value) => (value as { readonly step: string }).step);
            const isThere = readsAnswered ? steps.join() === step : steps.includes(step);
            return isThere && isReplayed(page);
          });
        return pages[0].shown().interrupts[0]?.id ?? "";
      };
      await pages[0].hook.respond("1", { interruptId: await asked("one") });
      await asked("two");
      await thread.resume("2");
      await asked("three");
      for (const page of pages) await page.close();
    });

    test("a failed run, and one that is stopped (client-versions.5)", PATIENCE, async () => {
      const failed = await load("throwing", randomUUID());
      await failed.hook.submit({});
      await shows("the error", () => failed.shown().error !== undefined);
      await failed.close();

      const notes = newNotes(folder);
      const threadId = randomUUID();
      const page = await load("slow", threadId);
      const sent = page.hook.submit({ notes: notes.notes, waitMs: 600_000 });
      await shows("the node runs", () => notes.count("waits") === 1);
      await shows("the page knows its run", () => page.created.length === 1);
      await page.hook.stop();
      await sent;
      await openThread(server, "slow", threadId).reaches("idle");
      await page.hook.submit({ notes: notes.notes, waitMs: 0 });
      await shows("the node has run", () => notes.count("waited") === 1);
      await page.close();
    });
  });
}
