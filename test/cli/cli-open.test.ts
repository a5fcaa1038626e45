// The verbs that show a run's events and open pages, and expressions of jq.
// Checked:
//   cli-open.1. `open` and `--web` open the page of an item, a thread or a list, and print its address; without a
//        screen, with `--print` and with `--json` they only print.
//   cli-open.2. `logs` prints the events of a run and follows it to its end; a run that is long over, its steps. With
//        `--follow` it goes on with later runs, and through restarts of the server.
//   cli-open.3. `--jq` filters the JSON of a verb as jq does: texts raw, a list as one array.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { lines, verb, type Ended } from "../harness/cli.ts";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { isRunning } from "../harness/protocol/thread-page.ts";
import { openEvents } from "../harness/thread-protocol.ts";
import { newThread } from "../harness/threads.ts";

let server: ServerHere;
before(async () => {
  server = await startServerHere();
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const run = (args: readonly string[], shown?: string[]): Promise<Ended> =>
  verb(args, { env: { HOLDPOINT_URL: server.url }, ...(shown === undefined ? {} : { shown }) });

test("open and --web open the page, and print its address (cli-open.1)", async () => {
  const thread = await newThread(server, "echo");
  await thread.run({ input: { payload: "Well?" } });
  const [item = ""] = (await thread.open()).map(({ id }) => id);
  const id = thread.threadId;
  const itemPage = `/inbox/${id}/${item}`;
  const rows: readonly (readonly [args: readonly string[], page: string])[] = [
    [["open"], "/inbox"],
    [["open", item.slice(0, 8)], itemPage],
    [["open", `${id}/${item}`], itemPage],
    [["open", id.slice(0, 13)], `/threads/${id}`],
    [["open", id], `/threads/${id}`],
    [["inbox", "show", item.slice(0, 8), "--web"], itemPage],
    [["inbox", "ls", "--graph", "echo", "--newest", "--web"], "/inbox?graph=echo&order=newest"],
    [["inbox", "ls", "--sort", "priority", "--web"], "/inbox?order=priority"],
    [["threads", "show", id, "--web"], `/threads/${id}`],
    [["inbox", "ls", "--metadata", '{"tier": 2}', "--web"], "/inbox?order=oldest&metadata=tier%3D2"],
    [["threads", "ls", "--status", "idle", "--web"], "/threads?status=idle"],
    [["threads", "ls", "--metadata", '{"tenant": "acme"}', "--web"], "/threads?metadata=tenant%3Dacme"],
    [["trace", "ls", "--search", "order", "--slower", "5", "--web"], "/traces?q=order&slow=5"],
    [["audit", "ls", "--by", "ann", "--web"], "/answered?by=ann"],
    [["status", "--web"], "/inbox"],
  ];
  for (const [args, page] of rows) {
    const shown: string[] = [];
    const { code, out, err } = await run(args, shown);
    const address = `${server.url}/console${page}`;
    assert.deepEqual([code, out, err, shown], [0, `${address}\n`, "", [address]], args.join(" "));
  }
  for (const option of ["--print", "--json"]) {
    const shown: string[] = [];
    const { out } = await run(["open", item, option], shown);
    assert.deepEqual([out.includes(itemPage), shown], [true, []]);
  }
  assert.equal((await run(["open", item])).out, `${server.url}/console${itemPage}\n`, "without a screen");
  const unknown = await run(["open", "zz"]);
  assert.deepEqual([unknown.code, unknown.out], [1, ""]);
  assert.match(unknown.err, /no open item, thread or trace has an id starting with "zz"/);
});

test("logs prints the events of a run, and follows it to its end (cli-open.2)", async () => {
  const thread = await newThread(server, "echo");
  const none = await run(["logs", thread.threadId]);
  assert.deepEqual([none.code, none.out], [0, "No runs yet.\n"]);
  await thread.run({ input: { payload: "Well?" } });
  await thread.resume("yes");
  const last = await run(["logs", thread.threadId]);
  assert.match(last.err, /^run [0-9a-f-]{13}\n$/);
  assert.match(last.out, /"yes"[^]*\n\nsuccess\n$/);
  const { body } = await call(server, "GET", `/threads/${thread.threadId}/runs`);
  const [second, first] = body as readonly { readonly run_id: string }[];
  assert.equal(last.err, `run ${second?.run_id.slice(0, 13)}\n`);
  const paused = await run(["logs", thread.threadId, first?.run_id ?? ""]);
  assert.match(paused.out, /"Well\?"[^]*\n\ninterrupted\n$/);
  assert.doesNotMatch(paused.out, /__interrupt__/, "its schema hides the values");
  const { out } = await run(["logs", thread.threadId, first?.run_id ?? "", "--json"]);
  const events = lines(out) as readonly { readonly event: string }[];
  assert.deepEqual([events[0]?.event, events.some(({ event }) => event === "values")], ["metadata", true]);
});

test("logs prints the steps of a run whose events are gone (cli-open.2)", async () => {
  const own = await startServerHere();
  const thread = await newThread(own, "echo");
  const started = ["run", "echo", "--thread", thread.threadId, "--input", '{"payload": "Well?"}'];
  assert.equal((await verb(started, { env: { HOLDPOINT_URL: own.url } })).code, 0);
  await own.stop();
  const again = await startServerHere({ dataDir: own.dataDir });
  try {
    const { out } = await verb(["logs", thread.threadId], { env: { HOLDPOINT_URL: again.url } });
    assert.match(out, /^step -1 {2}next: __start__ .* ago\nstep 0 {2}next: \S+ .* ago\n\ninterrupted\n$/);
  } finally {
    await again.stop();
    removeFolder(own.dataDir);
  }
});

test("logs follows a run that goes on, until it ends (cli-open.2)", async () => {
  const held = await newThread(server, "hanging");
  await call(server, "POST", `/threads/${held.threadId}/runs`, { assistant_id: "hanging", input: {} });
  const events = await openEvents(server, held.threadId, { channels: ["lifecycle"] });
  await events.until(isRunning);
  events.close();
  const following = run(["logs", held.threadId]);
  const cancelled = await run(["threads", "cancel", held.threadId]);
  assert.match(cancelled.out, /^cancelled {2}[0-9a-f]{8}-[0-9a-f]{4}\n$/);
  const { code, out } = await following;
  assert.deepEqual([code, out.trim().split("\n").at(-1)], [0, "interrupted"]);
});

test("logs --follow goes on after the server was away, behind the event that it printed last (cli-open.2)", async () => {
  const asked: unknown[] = [];
  const away = createServer((request, response) => {
    if (request.url?.includes("/runs") === true) return response.end("[]");
    const event = `id: r:${asked.push(request.headers["last-event-id"])}\nevent: updates\ndata: {"step": ${asked.length}}\n\n`;
    if (asked.length === 2) return request.socket.destroy();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (asked.length === 1) return response.write(event, () => response.destroy());
    return response.end(event); // as of a thread that is deleted
  });
  await once(away.listen(0, "127.0.0.1"), "listening");
  const env = { HOLDPOINT_URL: `http://127.0.0.1:${(away.address() as AddressInfo).port}` };
  const clock = { ...systemClock, after: (_ms: number, callback: () => void) => systemClock.after(0, callback) };
  const { code, out, err } = await verb(["logs", crypto.randomUUID(), "--follow", "--json"], { env, clock });
  away.close();
  assert.deepEqual([code, asked], [0, ["-1", "r:1", "r:1"]], err);
  assert.equal(out, '{"event":"updates","data":{"step":1}}\n{"event":"updates","data":{"step":3}}\n');
  assert.equal(err, `lost ${env.HOLDPOINT_URL}: trying again\n`);
});

test("--jq prints what the expression makes of the JSON (cli-open.3)", async () => {
  const thread = await newThread(server, "echo", { metadata: { tenant: "filtered" } });
  await thread.run({ input: { payload: "Well?\u001b[31m" } });
  const [item = ""] = (await thread.open()).map(({ id }) => id);
  const ofTenant = ["--metadata", '{"tenant": "filtered"}'];
  for (const [args, expression, out] of [
    [["inbox", "ls", ...ofTenant], ".[].id", `${item}\n`],
    [["inbox", "ls", ...ofTenant], "length", "1\n"],
    [["inbox", "ls", ...ofTenant, "--json"], ".[] | {id, kind}", `{"id":"${item}","kind":"question"}\n`],
    [["inbox", "show", item], ".value", "Well?\\u001b[31m\n"],
    [["inbox", "show", item], "empty", ""],
    [["threads", "show", thread.threadId], '"\\(.status) \\(.runs | length)"', "interrupted 1\n"],
    [["api", "GET", `/threads/${thread.threadId}`], ".thread_id", `${thread.threadId}\n`],
    [["run", "echo", "--input", '{"payload": "x"}'], 'select(.event == "metadata") | .data.attempt', "1\n"],
  ] as const) {
    const said = await run([...args, "--jq", expression]);
    assert.deepEqual([said.code, said.out], [0, out], `${args.join(" ")} --jq ${expression}: ${said.err}`);
  }
  const wrong = await run(["inbox", "show", item, "--jq", ".[0]"]);
  assert.deepEqual([wrong.code, wrong.err], [1, "holdpoint: --jq: Cannot index object with number\n"]);
});
