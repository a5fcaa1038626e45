// Tests of upload and tenant queues: the outcome of a batch by the backend's reply; a failing key delays no other.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SendOutcome } from "@holdpoint/collector/upload/backend/port.ts";
import { retryAfterMs } from "@holdpoint/base/retry-after.ts";
import { toOutcome } from "@holdpoint/collector/upload/backend/reply.ts";
import { type Body, compress, splitParts, decompressBody } from "@holdpoint/collector/encode/batch-body.ts";
import { createRunWriter, BOUNDARY } from "@holdpoint/collector/encode/multipart.ts";
import { createTenantQueues } from "@holdpoint/collector/upload/tenant-queues.ts";
import type { UploadJob } from "@holdpoint/collector/upload/upload-job.ts";
import { PLAIN_CONTENT, type TraceRun } from "@holdpoint/collector/shared/trace-run.ts";
import type { Tenant } from "@holdpoint/collector/shared/tenants.ts";
import { upload, type UploadResult } from "@holdpoint/collector/upload/upload.ts";
import { readParts } from "../fakes/backend.ts";
import { createFakeClock } from "../fakes/clock.ts";

const tenantA: Tenant = { id: "a".repeat(32), apiKey: "key-a", tenantId: "" };
const policy = { retriesMax: 3, retryBackoffMs: 100 };
const sent: SendOutcome = { kind: "sent" };
const busy: SendOutcome = { kind: "retry", reason: "503", afterMs: null };
const refused: SendOutcome = { kind: "refused", reason: "422" };
const tooLarge: SendOutcome = { kind: "too_large", reason: "413" };

function uuid(index: number): string {
  return `00000000-0000-0000-0000-${index.toString(16).padStart(12, "0")}`;
}

function buildRun(index: number, inputs = `{"n":${index}}`): TraceRun {
  return {
    tenant: tenantA,
    span: { traceId: "0".repeat(31) + "1", spanId: index.toString(16).padStart(16, "0"), origins: [] },
    id: uuid(index),
    traceId: uuid(index),
    parentRunId: "",
    dottedOrder: `20241121T062000123456Z${uuid(index)}`,
    amends: false,
    content: {
      name: `run "${index}" é`,
      runType: "chain",
      startTime: "2024-11-21T06:20:00.123456789Z",
      endTime: "2024-11-21T06:20:01.123456789Z",
      status: "success",
      error: "",
      inputs,
      outputs: "",
      extra: "{}",
      events: "",
      serialized: "",
      tags: [],
      sessionName: "default",
      sessionId: "",
      referenceExampleId: "",
      attachments: [],
      call: PLAIN_CONTENT.call,
      size: 10,
    },
  };
}

async function encodeBody(indexes: readonly number[], tenant = tenantA, inputs?: string): Promise<Body> {
  const writer = createRunWriter();
  for (const index of indexes) writer.write(buildRun(index, inputs));
  const rawBytes = writer.bytes();
  const offsets = [...writer.offsets];
  const raw = { tenant, createdMs: 0, boundary: BOUNDARY, bytes: writer.close(), rawBytes, offsets, first: 0 };
  const body = await compress(raw, "zstd");
  writer.release();
  return body;
}

function listRunNumbers(bodies: readonly Body[]): number[] {
  return bodies.flatMap((body) =>
    splitParts(body)
      .filter(({ name }) => name.split(".").length === 2)
      .map(({ name }) => Number.parseInt(name.slice(-12), 16)),
  );
}

/** Uploads with scripted replies, on a clock that the test advances. */
async function uploaded(
  body: Body,
  says: (body: Body, request: number) => SendOutcome,
): Promise<{ result: UploadResult; waits: number[]; requests: number }> {
  const clock = createFakeClock();
  const waits: number[] = [];
  let requests = 0;
  const uploading = upload(
    body,
    policy,
    { send: (part) => Promise.resolve(says(part, requests++)), clock, random: () => 0, onRetry: () => undefined },
    new AbortController().signal,
  );
  const state = { over: false };
  void uploading.then(() => (state.over = true));
  for (let ms = await clock.next(); !state.over || ms !== null; ms = await clock.next())
    if (ms !== null) waits.push(ms);
  return { result: await uploading, waits, requests };
}

describe("one cycle", () => {
  const cases: readonly {
    readonly name: string;
    readonly says: readonly SendOutcome[];
    readonly ends: string;
    readonly waits: readonly number[];
  }[] = [
    {
      name: "a busy backend is asked again, waiting twice as long each time",
      says: [busy, busy, sent],
      ends: "sent",
      waits: [100, 200],
    },
    {
      name: "it is asked 1 + MAX_RETRIES times, then the body is left",
      says: [busy, busy, busy, busy, sent],
      ends: "left",
      waits: [100, 200, 400],
    },
    { name: "a longer Retry-After wins", says: [{ ...busy, afterMs: 700 }, sent], ends: "sent", waits: [700] },
    { name: "a shorter one does not", says: [{ ...busy, afterMs: 7 }, sent], ends: "sent", waits: [100] },
    {
      name: "a wrong key is not tried again",
      says: [{ kind: "parked", reason: "401" }, sent],
      ends: "left",
      waits: [],
    },
    { name: "a single refused run is given up", says: [refused, sent], ends: "refused", waits: [] },
  ];
  for (const { name, says, ends, waits } of cases)
    test(name, async () => {
      const { result, waits: waited } = await uploaded(await encodeBody([1]), (_, request) => says[request] ?? sent);
      const ended = result.delivered.length > 0 ? "sent" : result.refused.length > 0 ? "refused" : "left";
      assert.deepEqual([ended, waited], [ends, waits]);
    });

  test("one poisoned run of a hundred is found in at most 2·log2(n) + 2 requests, and the others are delivered", async () => {
    const all = Array.from({ length: 100 }, (_, index) => index);
    for (const poison of [0, 37, 99]) {
      const { result, requests } = await uploaded(await encodeBody(all), (body) =>
        listRunNumbers([body]).includes(poison) ? refused : sent,
      );
      assert.deepEqual(
        listRunNumbers(result.delivered),
        all.filter((index) => index !== poison),
      );
      assert.deepEqual(listRunNumbers(result.refused.map(({ body }) => body)), [poison]);
      assert.ok(requests <= 2 * Math.log2(100) + 2, `${requests} requests`);
    }
  });

  test("a batch that is too large is halved until its parts fit", async () => {
    const { result } = await uploaded(await encodeBody([1, 2, 3, 4, 5]), (body) =>
      body.offsets.length > 2 ? tooLarge : sent,
    );
    assert.deepEqual(listRunNumbers(result.delivered), [1, 2, 3, 4, 5]);
  });

  test("a run that is too large alone is shortened with a mark, then dead-lettered if still too large", async () => {
    const inputs = JSON.stringify({ text: "x".repeat(100_000) });
    const { result } = await uploaded(await encodeBody([1], tenantA, inputs), (body) =>
      body.rawBytes > 10_000 ? tooLarge : sent,
    );
    const [part] = splitParts(result.delivered[0] ?? assert.fail()).filter(({ name }) => name.endsWith(".inputs"));
    const marker = JSON.parse(part?.content.toString() ?? "") as { _truncated: boolean; _original_bytes: number };
    assert.deepEqual([marker._truncated, marker._original_bytes], [true, inputs.length]);
    const never = await uploaded(await encodeBody([1]), () => tooLarge);
    assert.equal(never.result.refused[0]?.cause, "too_large");
  });

  test("an upload cut off before the backend went away stays queued, nothing twice and nothing lost", async () => {
    const { result } = await uploaded(await encodeBody([0, 1, 2, 3]), (body, request) =>
      request === 0 ? refused : listRunNumbers([body]).includes(0) ? sent : busy,
    );
    assert.deepEqual(
      [listRunNumbers(result.delivered), listRunNumbers(result.left)],
      [
        [0, 1],
        [2, 3],
      ],
    );
  });
});

describe("statuses", () => {
  for (const [status, kind] of [
    [200, "sent"],
    [201, "sent"],
    [202, "sent"],
    [204, "sent"],
    [409, "sent"],
    [408, "retry"],
    [425, "retry"],
    [429, "retry"],
    [499, "retry"],
    [500, "retry"],
    [502, "retry"],
    [503, "retry"],
    [504, "retry"],
    [400, "refused"],
    [422, "refused"],
    [413, "too_large"],
    [301, "parked"],
    [302, "parked"],
    [307, "parked"],
    [401, "parked"],
    [403, "parked"],
    [404, "parked"],
    [418, "parked"],
  ] as const)
    test(`${status} means ${kind}`, () => assert.equal(toOutcome(status, "", undefined, 0).kind, kind));

  for (const [value, ms] of [
    ["2", 2000],
    [" 0 ", 0],
    ["99999999", 3_600_000],
    ["soon", null],
    [undefined, null],
    [new Date(1_000_000_005_000).toUTCString(), 5000],
    [new Date(999_999_000_000).toUTCString(), 0],
  ] as const)
    test(`Retry-After ${value} is ${ms} ms`, () => assert.equal(retryAfterMs(value, 1_000_000_000_000), ms));
});

describe("tenant queues", () => {
  function job(tenant: Tenant, index: number, done: string[], body?: Body): UploadJob {
    return {
      tenantId: tenant.id,
      createdMs: 0,
      runs: 1,
      heldBytes: 1000,
      load: () => (body === undefined ? encodeBody([index], tenant) : Promise.resolve(body)),
      remainder: (left) => job(tenant, index, done, left),
      delivered: () => void done.push(`${tenant.apiKey} ${index}`),
      refused: () => Promise.resolve(),
    };
  }
  const tenantB: Tenant = { id: "b".repeat(32), apiKey: "key-b", tenantId: "" };

  function queuesWith(send: (body: Body) => Promise<SendOutcome>, inflightMax = 8) {
    const clock = createFakeClock();
    const pauses: number[] = [];
    const queues = createTenantQueues(
      { ...policy, inflightMax, retryCooldownMs: 1000, ageMaxMs: Infinity },
      {
        send,
        clock,
        random: () => 1,
        onRetry: () => undefined,
        onCircuit: (_, reason, ms) => void (reason !== null && pauses.push(ms)),
      },
    );
    return { clock, pauses, queues };
  }

  test("a key that is refused or busy or hangs delays no other", async () => {
    for (const answer of [busy, { kind: "parked", reason: "401" } as const, "hang" as const]) {
      const done: string[] = [];
      const { clock, queues } = queuesWith((body) =>
        body.tenant.id === tenantB.id
          ? Promise.resolve(sent)
          : answer === "hang"
            ? new Promise(() => undefined)
            : Promise.resolve(answer),
      );
      for (let index = 0; index < 20; index++) queues.offer(job(tenantA, index, done));
      for (let index = 0; index < 20; index++) queues.offer(job(tenantB, index, done));
      await clock.advance(0);
      await clock.advance(0);
      assert.deepEqual(
        done,
        Array.from({ length: 20 }, (_, index) => `key-b ${index}`),
      );
    }
  });

  test("a key pauses after its cycle, twice as long each time up to five minutes, and comes back", async () => {
    let well = false;
    const done: string[] = [];
    let requests = 0;
    const { clock, pauses, queues } = queuesWith(() => {
      requests++;
      return Promise.resolve(well ? sent : busy);
    }, 1);
    for (let index = 0; index < 3; index++) queues.offer(job(tenantA, index, done));
    await clock.advance(2_000_000);
    assert.deepEqual(pauses.slice(0, 6), [1000, 2000, 4000, 8000, 16_000, 32_000]);
    assert.equal(Math.max(...pauses), 300_000);
    assert.equal(requests, 4 * pauses.length);
    well = true;
    await clock.advance(300_000);
    assert.deepEqual(done, ["key-a 0", "key-a 1", "key-a 2"]);
    assert.equal(queues.heldBytes(), 0);
  });

  test("Retry-After wins over the cooldown of a key", async () => {
    const { clock, pauses, queues } = queuesWith(() => Promise.resolve({ ...busy, afterMs: 777 }), 1);
    queues.offer(job(tenantA, 0, []));
    await clock.advance(777 * 3);
    assert.deepEqual(pauses, [777]);
  });

  test("at shutdown paused keys get one more cycle, and the remaining jobs are returned", async () => {
    const done: string[] = [];
    let well = false;
    const { clock, queues } = queuesWith(() => Promise.resolve(well ? sent : { kind: "parked", reason: "401" }), 2);
    for (let index = 0; index < 4; index++) queues.offer(job(tenantA, index, done));
    await clock.advance(0);
    await queues.drain(new AbortController().signal);
    assert.equal((await queues.close()).length, 4);
    assert.equal(done.length, 0);
    well = true;
  });
});

test("every part has its exact length, and names that senders chose cannot break a head", async () => {
  const writer = createRunWriter();
  const nasty = ['a"b\r\nX: 1', "é".repeat(200), "..\u0000", "\ud800"];
  const base = buildRun(1);
  writer.write({
    ...base,
    content: {
      ...base.content,
      attachments: nasty.map((name) => ({ name, mimeType: 'image/png"\r\nX: y', bytes: Buffer.from("\r\n--x") })),
    },
  });
  const rawBytes = writer.bytes();
  const offsets = [...writer.offsets];
  const body = await compress(
    { tenant: tenantA, createdMs: 0, boundary: BOUNDARY, bytes: writer.close(), rawBytes, offsets, first: 0 },
    "zstd",
  );
  const parts = readParts(decompressBody(body), `multipart/form-data; boundary=${BOUNDARY}`);
  assert.equal(parts.length, 2 + nasty.length);
  assert.ok(
    parts
      .slice(2)
      .every(({ type, content }) => type === "application/octet-stream" && content.toString() === "\r\n--x"),
  );
});
