// A long load on an intermittent backend: batches keep their size, memory and open files stay constant, every span
// arrives. HOLDPOINT_FAULTS=full: 1,000,000 spans in each mode.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { setTimeout as soon } from "node:timers/promises";
import { type Answer, startBackend, type Upload } from "../fakes/backend.ts";
import { hexId, protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { IS_LONG } from "../harness/long.ts";
import { type CollectorProcess, startCollectorProcess } from "../fakes/processes.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";
const SPANS = full ? 1_000_000 : 20_000;
const SPANS_A_TRACE = 50;
const TRACES = SPANS / SPANS_A_TRACE;
const SENDERS = 8;
const KEYS = 4;
const BATCH_SIZE = 100;
const SPAN_TTL_MS = 2000;
/** Measures memory after each; the first two are the warm-up. */
const LEGS = 10;

const MARK = "#######";

const ID_MARK = "cafebabe";

/**
 * One trace as a request, children first; the trace's number overwrites the marks. Encoding each one would dominate the
 * load.
 */
function createTraceWriter(): (trace: number) => Buffer {
  const buildSpanId = (span: number): string => hexId(0xdddd_0000 + span, 8).slice(8) + ID_MARK;
  const spans = Array.from({ length: SPANS_A_TRACE }, (_, span) =>
    buildSpan(0, span, undefined, {
      traceId: "b".repeat(24) + ID_MARK,
      spanId: buildSpanId(span),
      ...(span === 0 ? {} : { parentSpanId: buildSpanId(Math.floor((span - 1) / 3)) }),
      name: `span ${MARK}.${span}`,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.prompt": JSON.stringify({ text: `question ${MARK}.${span}`, more: "words ".repeat(30) }),
        "gen_ai.usage.input_tokens": BigInt(span),
      },
    }),
  );
  const template = protobufRequest(spans.toReversed());
  const findPlaces = (bytes: Buffer): number[] => {
    const places: number[] = [];
    for (let at = template.indexOf(bytes); at >= 0; at = template.indexOf(bytes, at + 1)) places.push(at);
    return places;
  };
  const ids = findPlaces(Buffer.from(ID_MARK, "hex"));
  const marks = findPlaces(Buffer.from(MARK));
  return (trace) => {
    const body = Buffer.from(template);
    for (const at of ids) body.writeUInt32BE(trace, at);
    for (const at of marks) body.write(String(trace).padStart(MARK.length, "0"), at, "latin1");
    return body;
  };
}

/** Resolves with the status; 0 when there was no answer. */
function post(agent: Agent, url: string, body: Buffer, key: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/x-protobuf", "content-length": body.length, "x-api-key": key };
    const sending = request(`${url}/v1/traces`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    sending.once("error", () => resolve(0));
    sending.end(body);
  });
}

/** Well for 24 uploads, then in trouble for 6, in turns of every kind. */
const TROUBLES: readonly Answer[] = [
  { status: 503 },
  "reset",
  { status: 429, headers: { "retry-after": "0" } },
  "hang",
  "take_and_reset",
];
function flapping({ index }: Upload): Answer {
  const turn = Math.floor(index / 30);
  return index % 30 < 24 ? { status: 202 } : (TROUBLES[turn % TROUBLES.length] ?? assert.fail());
}

/** What a stop in the middle of a trouble leaves in the spool, the next start delivers. */
async function deliverRest(
  env: Readonly<Record<string, string>>,
  backend: Awaited<ReturnType<typeof startBackend>>,
  { note, isWhole }: { readonly note: (upload: Upload) => void; readonly isWhole: () => boolean },
): Promise<void> {
  if (isWhole()) return;
  backend.script = (upload) => (note(upload), { status: 202 });
  const next = (await startCollectorProcess(env)) ?? assert.fail();
  await backend.when(isWhole);
  next.child.kill("SIGTERM");
  assert.equal(await next.ended, 0, next.log().slice(-2000));
  console.log("the stop left a batch in the spool, and the next start delivered it");
}

for (const mode of IS_LONG ? (["memory", "durable"] as const) : (["durable"] as const))
  test(`${SPANS} spans, ${mode} mode, a backend that comes and goes: batches, memory and files as at the beginning`, async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-soak-`);
    const backend = await startBackend({ forgets: true });
    const arrived = new Uint8Array(SPANS);
    const sizes: number[] = [];
    let distinct = 0;
    let repeats = 0;
    let troubles = 0;
    const note = (upload: Upload): void => {
      for (const run of upload.runs) {
        const [, trace = "", span = ""] = /^span (\d+)\.(\d+)$/.exec(String(run.main["name"])) ?? [];
        assert.equal(run.inputs["text"], `question ${trace}.${span}`);
        assert.equal(run.key, `key-${Number(trace) % KEYS}`);
        const place = Number(trace) * SPANS_A_TRACE + Number(span);
        if (arrived[place] === 0) distinct++;
        else repeats++;
        arrived[place] = 1;
      }
    };
    backend.script = (upload) => {
      sizes.push(upload.runs.length);
      const answer = flapping(upload);
      if (answer === "take_and_reset" || (typeof answer === "object" && answer.status === 202)) note(upload);
      if (typeof answer !== "object" || answer.status !== 202) troubles++;
      return answer;
    };
    const env = {
      TRACING_ENDPOINT: backend.url,
      BATCH_SIZE: String(BATCH_SIZE),
      FLUSH_INTERVAL_MS: "60000", // a batch goes when it is full, or at the end
      orphanTimeoutMs: "60000",
      SPAN_TTL: String(SPAN_TTL_MS),
      MAX_QUEUE_BYTES: "16777216",
      retryCooldownMs: "20",
      uploadTimeoutMs: "500", // a busy machine takes long too, and a shutdown has only so many tries
      ...(mode === "durable" ? { SPOOL_DIR: dir, SPOOL_MAX_BYTES: "268435456" } : {}),
    };
    const collector = (await startCollectorProcess(env)) ?? assert.fail();
    const measured: Awaited<ReturnType<CollectorProcess["measure"]>>[] = [];

    const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
    const write = createTraceWriter();
    let next = 0;
    let refused = 0;
    const sendUntil = async (end: number): Promise<void> => {
      while (next < end) {
        const trace = next++;
        const body = write(trace);
        for (;;) {
          const status = await post(agent, collector.url, body, `key-${trace % KEYS}`);
          if (status === 200) break;
          assert.equal(status, 503, collector.log().slice(-500));
          refused++;
        }
      }
    };
    for (let leg = 1; leg <= LEGS; leg++) {
      const end = (leg * TRACES) / LEGS;
      await Promise.all(Array.from({ length: SENDERS }, () => sendUntil(end - 1)));
      if (full) await soon(2 * SPAN_TTL_MS); // the retained data depends on the rate; the next trace releases it
      await sendUntil(end);
      // Measured after the last full batch: the rest varies.
      await backend.when(() => distinct > next * SPANS_A_TRACE - KEYS * BATCH_SIZE);
      measured.push(await collector.measure());
    }
    agent.destroy();
    collector.child.kill("SIGTERM");
    assert.equal(await collector.ended, 0, collector.log().slice(-2000));
    if (mode === "durable") await deliverRest(env, backend, { note, isWhole: () => distinct === SPANS });
    await backend.close();
    await rm(dir, { recursive: true });

    const mb = (bytes: number): number => Math.round(bytes / 1e6);
    console.log(
      `${mode}: ${distinct} spans in ${sizes.length} uploads, ${repeats} repeats, ${troubles} troubled uploads, ${refused} requests put off;`,
      `heap ${measured.map(({ heapBytes }) => mb(heapBytes)).join(" ")} MB, rss ${measured.map(({ rssBytes }) => mb(rssBytes)).join(" ")} MB,`,
      `fds ${measured.map(({ fds }) => fds).join(" ")}`,
    );
    assert.deepEqual(backend.violations, []);
    assert.equal(distinct, SPANS, "nothing is lost");
    assert.ok(troubles > sizes.length / 10 && repeats > 0, "enough happened");
    // Every batch is full except the last of each key, and the one cut by SIGTERM.
    const partial = sizes.filter((size) => size !== BATCH_SIZE).length;
    assert.ok(partial <= 2 * KEYS, `${partial} of ${sizes.length} batches are not full`);
    const [early, late] = [measured.slice(2, 5), measured.slice(-3)];
    const highest = (of: typeof measured, what: "heapBytes" | "fds"): number => Math.max(...of.map((one) => one[what]));
    assert.ok(highest(late, "fds") <= highest(early, "fds") + 8, "open files grow");
    if (full) assert.ok(highest(late, "heapBytes") <= highest(early, "heapBytes") * 1.25, "the heap grows");
  });
