// A question of a program on every channel of people: each decides it, the waiting program gets the decision, and the
// audit trail has it once, in the name of the person. New input is no answer to it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { decide, type Decision, type PersonRequest } from "../../packages/holdpoint/src/exports/requests.ts";
import { type Channel, CHANNELS } from "../harness/channels/channels.ts";
import { type Asked, asWho, startWorld } from "../harness/channels/world.ts";
import { call } from "../harness/server.ts";

const world = await startWorld();
after(() => world.close());

const get = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
  (await call(world.server, "GET", path, undefined, asWho("root"))).body;

/** The question as a channel names it, and the decision that the program waits for. */
async function ask(signal: AbortSignal): Promise<{ readonly asked: Asked; readonly decision: Promise<unknown> }> {
  const open = Promise.withResolvers<PersonRequest>();
  const options = { url: world.url, apiKey: "starter", onOpen: open.resolve, signal };
  const decision: Promise<Decision<object> | Error> = decide("deploy", { version: "1.4" }, options).catch(
    (error: Error) => error,
  );
  const request = await open.promise;
  const [threadId, interruptId] = [request.request_id, String(request["interrupt_id"])];
  const { run_id: runId } = await get(`/inbox/${threadId}/${interruptId}`);
  return { asked: { threadId, interruptId, runId: String(runId), assistant: "holdpoint-request" }, decision };
}

const value = { decisions: [{ type: "reject", message: "not today" }] };
const isInput = ({ name }: Channel): boolean => name.includes("on_paused answer");

for (const channel of CHANNELS.filter((one) => !isInput(one)))
  test(`${channel.name}: the program learns that a person rejected, and why`, async (t) => {
    const { asked, decision } = await ask(t.signal);
    const reply = await channel.send(world, asked, { who: "ann", value });
    assert.equal(reply.code, null, reply.text);
    assert.deepEqual(await decision, { approved: false, message: "not today" });
    const { items } = (await get(`/threads/${asked.threadId}/audit`)) as {
      readonly items: readonly { readonly action: string; readonly by: string }[];
    };
    const answers = items.filter(({ action }) => action === "answered");
    assert.deepEqual(
      answers.map(({ by }) => by),
      ["ann"],
    );
  });

for (const channel of CHANNELS.filter(isInput))
  test(`${channel.name}: new input does not answer the question of a program`, async () => {
    const stopped = new AbortController();
    const { asked, decision } = await ask(stopped.signal);
    await channel.send(world, asked, { who: "ann", value }).catch(() => null); // the words differ
    assert.equal((await get(`/requests/${asked.threadId}`))["status"], "open");
    stopped.abort(new Error("stopped"));
    assert.match(String(await decision), /stopped/);
  });
