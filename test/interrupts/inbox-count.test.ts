// Tests of GET /inbox/count, over HTTP.
// Rule interrupts/inbox-count.1: the count is that of the list with the same filters, whatever the page.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

test("the count has the filters of the list, and no pages (interrupts/inbox-count.1)", async () => {
  for (const tier of ["gold", "gold", "tin"]) {
    const thread = await newThread(server, "echo", { metadata: { tier } });
    await thread.run({ input: { payload: tier } });
  }
  const count = async (query: string): Promise<number> => {
    const { count: found }: { readonly count: number } = (await call(server, "GET", `/inbox/count?${query}`)).body;
    return found;
  };
  assert.equal(await count("limit=1"), 3);
  assert.equal(await count(`metadata=${encodeURIComponent('{"tier":"gold"}')}`), 2);
  assert.equal(await count("kind=form"), 0);
  assert.equal(await count("older_than=1d"), 0);
});
