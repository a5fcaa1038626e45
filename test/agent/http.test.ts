// Tests of the behaviour that HTTP clients, proxies and browsers rely on.
// Rules:
//   agent/http.1. Run-creating calls have the location of the run and of its join; lists have their total; browsers may
//        read both.
//   agent/http.2. Newlines keep a waiting call alive, and its reply is still one JSON text.
//   agent/http.3. A caller that disconnects loses nothing.
//   agent/http.4. Pages of other origins read nothing, and a foreign Host gets a rejection.
//   agent/http.5. An Idempotency-Key yields one run, however often the call repeats.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { raw } from "../harness/raw.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, readProblem, type Result, type WireRun } from "../harness/threads.ts";
import { isRunning } from "../harness/protocol/thread-page.ts";
import { openEvents } from "../harness/thread-protocol.ts";
import { PATIENCE } from "../harness/patience.ts";

const KEEP_ALIVE_MS = 100;
const server = await startServerHere({ limits: { keepAliveMs: KEEP_ALIVE_MS } });
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const LOOPBACK = ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:5173", "http://app.localhost:8080"];
const FOREIGN = [
  "https://example.com",
  "http://localhost.example.com",
  "http://127.0.0.1.example.com:80",
  "http://notlocalhost",
  "null",
  "file://",
];

// Where things are (agent/http.1).

test("runs, runs/wait and join return the locations of the run and of its join (agent/http.1)", PATIENCE, async () => {
  const thread = await newThread(server, "agent");
  const begun = await call(server, "POST", `${thread.path}/runs`, { assistant_id: "agent", input: { some_text: "x" } });
  const { run_id: id }: WireRun = begun.body;
  const at = `${thread.path}/runs/${id}`;
  const joined = await call(server, "GET", `${at}/join`);
  for (const { headers } of [begun, joined]) {
    assert.equal(headers.get("content-location"), at);
    assert.equal(headers.get("location"), `${at}/join`);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
  }
  const waited = await thread.wait({ command: { resume: "y" } });
  const [newest] = await thread.runs();
  assert.equal(waited.headers.get("content-location"), `${thread.path}/runs/${newest?.run_id}`);
  assert.equal(waited.headers.get("location"), `${thread.path}/runs/${newest?.run_id}/join`);
  assert.deepEqual((await call(server, "GET", waited.headers.get("location") ?? "")).body, waited.body);
});

test("searches return the number of matches and the start of the next page (agent/http.1)", PATIENCE, async () => {
  const metadata = { page: "five" };
  for (let at = 0; at < 5; at++) await call(server, "POST", "/threads", { metadata });
  const pages: readonly [limit: number, offset: number, count: number, next: string | null][] = [
    [2, 0, 2, "2"],
    [2, 2, 2, "4"],
    [2, 4, 1, null],
    [5, 0, 5, null],
    [10, 0, 5, null],
    [10, 7, 0, null],
  ];
  for (const [limit, offset, count, next] of pages) {
    const { headers, body } = await call(server, "POST", "/threads/search", { metadata, limit, offset });
    assert.equal((body as unknown[]).length, count);
    assert.equal(headers.get("x-pagination-total"), "5", `limit ${limit}, offset ${offset}`);
    assert.equal(headers.get("x-pagination-next"), next);
  }
  const assistants = await call(server, "POST", "/assistants/search", { limit: 1 });
  assert.ok(Number(assistants.headers.get("x-pagination-total")) > 10);
  assert.equal(assistants.headers.get("x-pagination-next"), "1");
});

// Waiting (agent/http.2, agent/http.3).

test("a waiting call is kept open with newlines, and ends in one JSON text (agent/http.2)", PATIENCE, async () => {
  const thread = await newThread(server, "slow");
  const gate = join(folder, "gate-of-the-newlines");
  const body = JSON.stringify({ assistant_id: "slow", input: { waitMs: 0, gate } });
  // The node ends when two newlines are here: that they come as time passes, and not at the end, is proven by its end.
  const onText = (text: string) => void (text.length >= 2 && writeFileSync(gate, ""));
  const answer = await raw(server, { path: `${thread.path}/runs/wait`, body, onText });
  assert.equal(answer.status, 200);
  assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
  assert.match(answer.headers["content-location"] ?? "", /\/runs\//);
  const blanks = answer.text.length - answer.text.trimStart().length;
  assert.ok(blanks >= 2, `${blanks} newlines`);
  assert.equal((JSON.parse(answer.text) as Result)["result"], "whole");
});

test("an immediate reply has no blank before it (agent/http.2)", PATIENCE, async () => {
  const thread = await newThread(server, "steps");
  const run = await thread.begin({ input: {} });
  await thread.reaches("idle");
  const answer = await call(server, "GET", `${thread.path}/runs/${run.run_id}/join`);
  assert.ok(answer.text.startsWith("{"));
  assert.notEqual(answer.headers.get("content-length"), null);
});

test("a failure after the first newline is in the JSON (agent/http.2)", PATIENCE, async () => {
  const thread = await newThread(server, "slow");
  const answer = await fetch(`${server.url}${thread.path}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "slow", input: { waitMs: 60_000 } }),
  }); // its headers come with the first newline
  const [run] = await thread.runs();
  await call(server, "POST", `${thread.path}/runs/${run?.run_id}/cancel?wait=1`);
  assert.equal(answer.status, 200);
  const text = await answer.text();
  assert.ok(text.startsWith("\n"));
  assert.equal((JSON.parse(text) as Result).__error__?.error, "Cancelled");
});

/** Sends a waiting call and cuts the connection as soon as `ready` says so, or when the server keeps it open. */
async function hangUp(path: string, body: object | null, ready: (() => Promise<unknown>) | null): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const outgoing = request({
    hostname,
    port,
    path,
    method: body === null ? "GET" : "POST",
    headers: body === null ? {} : { "content-type": "application/json" },
  });
  outgoing.on("error", () => undefined); // our own cut
  outgoing.end(body === null ? undefined : JSON.stringify(body));
  await (ready === null ? once(outgoing, "response") : ready()); // the first newline brings the headers
  outgoing.destroy();
}

test(
  "a caller that disconnects loses nothing: the run continues, and a join has its result (agent/http.3)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "slow");
    const notes = newNotes(folder);
    const input = { notes: notes.notes, waitMs: 200 };
    await hangUp(`${thread.path}/runs/wait`, { assistant_id: "slow", input, on_disconnect: "continue" }, () =>
      notes.reached("waits"),
    );
    const [run] = await thread.runs();
    assert.ok(run);
    assert.equal((await thread.join(run))["result"], "whole");
    assert.equal(notes.count("waited"), 1);
  },
);

test("a pause without a waiting caller is visible to the next caller (agent/http.3)", PATIENCE, async () => {
  const thread = await newThread(server, "rules");
  const gate = join(folder, "gate-of-the-pause");
  const events = await openEvents(server, thread.threadId, { channels: ["lifecycle"] });
  await hangUp(`${thread.path}/runs/wait`, { assistant_id: "rules", input: { mode: "late", gate } }, () =>
    events.until(isRunning),
  );
  events.close();
  writeFileSync(gate, "");
  await thread.reaches("interrupted");
  const [run] = await thread.runs();
  assert.ok(run);
  const question = onlyQuestion(await thread.join(run));
  assert.deepEqual((await thread.resume({ [question.id]: 1 }))["answers"], [1, "closed"]);
  assert.deepEqual(onlyQuestion(await thread.join(run)), { ...question }, "a late join tells what the run told");
});

test("a join with cancel_on_disconnect cancels the run on disconnect (agent/http.3)", PATIENCE, async () => {
  const thread = await newThread(server, "slow");
  const notes = newNotes(folder);
  const run = await thread.begin({ input: { notes: notes.notes, waitMs: 60_000 } });
  const started = () => notes.reached("waits");
  await started();
  const at = `${thread.path}/runs/${run.run_id}/join`;
  await hangUp(`${at}?cancel_on_disconnect=1`, null, null);
  const result = await thread.join(run);
  assert.equal(result.__error__?.error, "Cancelled");
  assert.equal(notes.count("waited"), 0);
});

// Browsers (agent/http.1, agent/http.4).

test("a page from this machine may read replies and the headers that count; none from elsewhere (agent/http.1, agent/http.4)", async () => {
  const paths = ["/ok", "/threads/x", "/nowhere"];
  for (const path of paths) {
    for (const origin of LOOPBACK) {
      const { headers } = await raw(server, { path, headers: { origin } });
      assert.equal(headers["access-control-allow-origin"], origin);
      assert.equal(headers["vary"], "Origin");
      assert.equal(headers["access-control-allow-credentials"], undefined);
      const exposed = (headers["access-control-expose-headers"] ?? "").toLowerCase().split(/, */);
      for (const name of ["content-location", "location", "retry-after", "x-pagination-total", "x-pagination-next"]) {
        assert.ok(exposed.includes(name), `${name} for ${origin}`);
      }
    }
    for (const origin of FOREIGN) {
      const { headers } = await raw(server, { path, headers: { origin } });
      const names = Object.keys(headers).filter((name) => name.startsWith("access-control"));
      assert.deepEqual(names, [], `${path} for ${origin}`);
    }
  }
});

test("a preflight is answered by address, and runs nothing (agent/http.4)", async () => {
  const before: unknown = (await call(server, "POST", "/threads/count", {})).body;
  const headers = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type, idempotency-key",
  };
  const own = await raw(server, {
    method: "OPTIONS",
    path: "/threads",
    headers: { ...headers, origin: "http://localhost:3000" },
  });
  assert.equal(own.status, 204);
  assert.match(own.headers["access-control-allow-methods"] ?? "", /POST/);
  assert.equal(own.headers["access-control-allow-headers"], "content-type, idempotency-key");
  const foreign = await raw(server, {
    method: "OPTIONS",
    path: "/threads",
    headers: { ...headers, origin: "https://example.com" },
  });
  assert.deepEqual(
    Object.keys(foreign.headers).filter((name) => name.startsWith("access-control")),
    [],
  );
  const origin = "http://localhost:3000";
  const nowhere = await raw(server, { method: "OPTIONS", path: "/nowhere", headers: { ...headers, origin } });
  assert.deepEqual([nowhere.status, nowhere.headers["access-control-allow-origin"]], [204, origin]);
  const missing = await raw(server, { path: "/nowhere", headers: { origin } });
  assert.deepEqual(
    [missing.status, missing.headers["access-control-allow-origin"]],
    [404, origin],
    "a page sees the 404",
  );
  assert.equal((await raw(server, { method: "OPTIONS", path: "/nowhere" })).status, 404, "this is no preflight");
  assert.equal((await call(server, "POST", "/threads/count", {})).body, before);
});

test("a form or a plain text posted by a page is refused (agent/http.4)", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const answer = await raw(server, { path: "/threads", body: "{}", headers: { "content-type": type } });
    assert.equal(answer.status, 415);
  }
});

test("only names of this machine are served on loopback (agent/http.4)", async () => {
  for (const host of [
    "localhost",
    "localhost:2024",
    "127.0.0.1",
    "127.8.9.1:1",
    "[::1]:2024",
    "app.localhost",
    "LOCALHOST",
  ]) {
    assert.equal((await raw(server, { path: "/ok", headers: { host } })).status, 200, host);
  }
  for (const host of ["example.com", "127.0.0.1.example.com", "localhost.example.com:80", "10.0.0.1", "0.0.0.0"]) {
    for (const given of [{ path: "/ok" }, { path: "/threads", body: "{}" }]) {
      const answer = await raw(server, { ...given, headers: { host } });
      assert.equal(answer.status, 403, host);
      assert.match(answer.text, /"code":"forbidden_host"/);
    }
  }
  for (const host of ["evil@localhost", "localhost:99999999"]) {
    const answer = await raw(server, { path: "/ok", headers: { host } });
    assert.deepEqual([answer.status, /"code":"malformed_request"/.test(answer.text)], [400, true], host);
  }
});

// Repeats (agent/http.5).

test(
  "a call repeated with its Idempotency-Key gets the first result; the node ran once (agent/http.5)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "echo");
    const notes = newNotes(folder);
    const key = { "idempotency-key": `first-${thread.threadId}` };
    const body = { input: { notes: notes.notes, payload: "?" } };
    const first = await thread.wait(body, key);
    const answerKey = { "idempotency-key": `second-${thread.threadId}` };
    const resume = { command: { resume: { ok: true } } };
    const answered = await thread.wait(resume, answerKey);
    for (let repeat = 0; repeat < 3; repeat++) {
      const again = await thread.wait(resume, answerKey);
      assert.equal(again.status, 200);
      assert.equal(again.text.trim(), answered.text.trim()); // a slow reply begins with newlines
      assert.equal(again.headers.get("content-location"), answered.headers.get("content-location"));
      assert.deepEqual((await thread.wait(body, key)).body, first.body, "also after the thread has gone on");
    }
    assert.equal((await thread.runs()).length, 2);
    assert.deepEqual(notes.lines(), ["before", "before", "after"]);
    const begun = await call(server, "POST", `${thread.path}/runs`, { assistant_id: "echo", ...resume }, answerKey);
    assert.equal(readProblem(begun).code, "idempotency_key_reused", "another address is another request");
  },
);

test("a call repeated while the first is in progress joins it (agent/http.5)", PATIENCE, async () => {
  const thread = await newThread(server, "slow");
  const notes = newNotes(folder);
  const key = { "idempotency-key": "joined" };
  const body = { input: { notes: notes.notes, waitMs: 150 } };
  const answers = await Promise.all(Array.from({ length: 8 }, () => thread.wait(body, key)));
  for (const answer of answers) {
    assert.equal(answer.status, 200, answer.text);
    assert.equal((answer.body as Result)["result"], "whole");
    assert.equal(answer.headers.get("content-location"), answers[0]?.headers.get("content-location"));
  }
  assert.equal((await thread.runs()).length, 1);
  assert.equal(notes.count("waits"), 1);
});

test(
  "a key counts on when its run, or the thread, has been deleted: nothing runs again (agent/http.5)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "slow");
    const notes = newNotes(folder);
    const body = { assistant_id: "slow", input: { notes: notes.notes, waitMs: 1 }, if_not_exists: "create" };
    const keyed = { "idempotency-key": `deleted-${thread.threadId}` };
    const stateless = { "idempotency-key": `stateless-${thread.threadId}` };
    const repeat = () => call(server, "POST", `${thread.path}/runs/wait`, body, keyed);
    const repeatStateless = () => call(server, "POST", "/runs/wait", { ...body, if_not_exists: undefined }, stateless);
    const first = await repeat();
    assert.equal(first.status, 200, first.text);
    const alone = await repeatStateless();
    assert.equal(alone.status, 200, alone.text);
    const runs = await thread.runs();
    assert.equal((await call(server, "DELETE", `${thread.path}/runs/${runs[0]?.run_id}`)).status, 204);
    const problems = [await repeat()];
    assert.equal((await call(server, "DELETE", thread.path)).status, 204);
    problems.push(await repeat());
    const joined = await call(server, "GET", String(alone.headers.get("content-location")));
    const { thread_id: threadId } = joined.body as { readonly thread_id: string };
    assert.equal((await call(server, "DELETE", `/threads/${threadId}`)).status, 204);
    problems.push(await repeatStateless());
    for (const answer of problems) {
      assert.equal(answer.status, 409, answer.text);
      assert.equal(readProblem(answer).code, "idempotency_run_deleted");
      for (const id of [thread.threadId, threadId, runs[0]?.run_id]) assert.ok(!answer.text.includes(String(id)));
    }
    assert.equal(notes.count("waits"), 2);
  },
);

test("a key that came with another request is refused, and nothing is changed (agent/http.5)", PATIENCE, async () => {
  const thread = await newThread(server, "echo");
  const other = await newThread(server, "echo");
  const key = { "idempotency-key": "taken" };
  await thread.wait({ input: { payload: 1 } }, key);
  const before = [await thread.picture(), await other.picture()];
  for (const answer of [
    await thread.wait({ input: { payload: 2 } }, key),
    await thread.wait({ command: { resume: 1 } }, key),
    await other.wait({ input: { payload: 1 } }, key),
  ]) {
    assert.equal(answer.status, 422);
    assert.equal(readProblem(answer).code, "idempotency_key_reused");
  }
  assert.deepEqual([await thread.picture(), await other.picture()], before);
});

test("a refused call does not use its key up (agent/http.5)", PATIENCE, async () => {
  const thread = await newThread(server, "echo");
  const key = { "idempotency-key": "early" };
  const resume = { command: { resume: "now" } };
  assert.equal((await thread.wait(resume, key)).status, 409);
  await thread.run({ input: {} });
  assert.deepEqual(((await thread.wait(resume, key)).body as Result)["answer"], ["now"]);
});

test("a key that is empty or too long is refused (agent/http.5)", PATIENCE, async () => {
  const thread = await newThread(server, "steps");
  for (const key of ["", "k".repeat(256)]) {
    const answer = await thread.wait({ input: {} }, { "idempotency-key": key });
    assert.equal(answer.status, 422);
    assert.equal(readProblem(answer).code, "invalid_request");
  }
  assert.deepEqual(await thread.runs(), []);
});

// Threads, as far as no other file has them.

test("a caller's thread id: a duplicate is 409, do_nothing returns the first", async () => {
  const threadId = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
  assert.equal((await call(server, "POST", "/threads", { thread_id: threadId, metadata: { n: 1 } })).status, 200);
  const twice = await call(server, "POST", "/threads", { thread_id: threadId });
  assert.deepEqual([twice.status, readProblem(twice).code], [409, "thread_exists"]);
  const same = await call(server, "POST", "/threads", {
    thread_id: threadId.toUpperCase(),
    if_exists: "do_nothing",
    metadata: { n: 2 },
  });
  assert.deepEqual((same.body as { readonly metadata: unknown }).metadata, { n: 1 });
});

test(
  "deleting a thread with a run in progress ends that run; nothing brings the thread back (A28)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "slow");
    const notes = newNotes(folder);
    const waiting = thread.wait({ input: { notes: notes.notes, waitMs: 60_000 } });
    await notes.reached("waits");
    assert.equal((await call(server, "DELETE", thread.path)).status, 204);
    assert.equal(((await waiting).body as Result).__error__?.error, "Deleted");
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/state"],
      ["GET", "/history"],
      ["GET", "/runs"],
      ["DELETE", ""],
      ["POST", "/copy"],
    ] as const) {
      assert.equal((await call(server, method, `${thread.path}${path}`)).status, 404, `${method} ${path}`);
    }
    assert.equal((await thread.wait({ command: { resume: 1 } })).status, 404);
    assert.equal((await thread.wait({ input: {} })).status, 404);
    assert.equal(notes.count("waited"), 0);
  },
);

test("a run creates a missing thread only if requested", PATIENCE, async () => {
  const path = "/threads/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c";
  const body = { assistant_id: "steps", input: {} };
  assert.equal((await call(server, "POST", `${path}/runs/wait`, body)).status, 404);
  const made = await call(server, "POST", `${path}/runs/wait`, { ...body, if_not_exists: "create" });
  assert.equal(made.status, 200, made.text);
  assert.equal((await call(server, "GET", path)).status, 200);
});
