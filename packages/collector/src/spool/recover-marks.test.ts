// Marks of a batch that was damaged after its sync: the intact requests of its spans are delivered once more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryDisk, hookedFiles, type MemoryDisk } from "../../../../test/fakes/files.ts";
import { type Clock, systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createSpanAccounting, type SpanAccounting } from "../shared/span-accounting.ts";
import { type Tenant, hashTenantId } from "../shared/tenants.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { FilePort } from "./disk/file-port.ts";
import { isDone, type Recovered, type Spool, type StoredBatch } from "./port.ts";
import { createSpool } from "./spool.ts";
import { placeLines } from "./tree-log.ts";

const DIR = "/spool";
const buildTenant = (apiKey: string, tenantId: string): Tenant => ({
  id: hashTenantId(apiKey, tenantId),
  apiKey,
  tenantId,
});
const tenant = buildTenant("key", "");
const silent = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
/** Removals of segments follow at the next turn. */
const eagerClock: Clock = {
  ...systemClock,
  after: (_, call) => {
    const timer = setImmediate(call);
    return () => clearImmediate(timer);
  },
};

interface Opened {
  readonly spool: Spool;
  readonly accounting: SpanAccounting;
  readonly recovered: Recovered;
}

async function opened(files: FilePort, segmentBytesMax = 2500): Promise<Opened> {
  const accounting = createSpanAccounting();
  const spool = createSpool(
    { dir: DIR, segmentBytesMax, treeSegmentBytesMax: 1500, treeRunsKept: 1000, treeAgeMs: 300_000 },
    { files, clock: eagerClock, log: silent, ring: null, accounting: () => accounting, buildTenant },
  );
  const recovered = await spool.recover();
  Object.assign(accounting, recovered.accounting);
  return { spool, accounting, recovered };
}

const encodeNames = (names: readonly string[]): Buffer => Buffer.from(JSON.stringify(names));

async function append({ spool, accounting }: Opened, ...names: readonly string[]): Promise<StoredRequest> {
  const head = { tenant, signal: "traces", format: "json", encoding: "identity", project: "" } as const;
  const spans = names.length;
  const stored = await spool.appendRequest({ ...head, receivedMs: 1, spans, rejected: 0, wire: encodeNames(names) });
  accounting.received += spans;
  return stored;
}

/** A batch of all spans of the requests, one run a span. */
function appendBatch({ spool }: Opened, requests: readonly StoredRequest[]): Promise<StoredBatch> {
  const covers = requests.flatMap((request) =>
    Array.from({ length: request.spans }, (_, index) => ({ request, index })),
  );
  const bytes = encodeNames(covers.map((_, index) => `run ${index}`));
  const offsets = covers.map((_, index) => index);
  const body = { tenant, createdMs: 1, boundary: "b", encoding: "identity", bytes, offsets, first: 0 } as const;
  const places = placeLines([{ traceId: "0", spanId: "0", dottedOrder: "x" }]);
  return spool.appendBatch({ body: { ...body, rawBytes: bytes.length }, places, covers });
}

function deliver({ spool, accounting }: Opened, batch: StoredBatch, first: number, runs: number): void {
  spool.batchDone(batch, first, runs);
  accounting.delivered += runs;
}

/** Names of the spans that a start would feed again. */
async function replayedIn({ spool, recovered }: Opened): Promise<string[]> {
  const names: string[] = [];
  for (const request of recovered.requests) {
    const record = await spool.readRequest(request);
    const own = JSON.parse(record?.wire.toString() ?? "[]") as string[];
    names.push(...own.filter((_, index) => !isDone(request, index)).map((name) => name.slice(0, 10)));
  }
  return names.sort();
}

const totals = ({ received, delivered, lost }: SpanAccounting): readonly number[] => [
  received,
  delivered,
  lost.unreadable,
];

const buildLogPath = (segment: number): string => `${DIR}/${String(segment).padStart(10, "0")}.log`;

/** The disk after a crash, with a flipped bit in the content of the batch. */
function damaged(disk: MemoryDisk, { segment, offset, bytes }: StoredBatch): MemoryDisk {
  const content = Buffer.from(disk.contents.get(buildLogPath(segment)) ?? assert.fail());
  content[offset + bytes - 3] = (content[offset + bytes - 3] ?? 0) ^ 1;
  return createMemoryDisk(new Map(disk.contents).set(buildLogPath(segment), content));
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const turns = async (): Promise<void> => {
  for (let count = 0; count < 20; count++) await turn();
};

const FILLER = "x".repeat(2500);
const FILLER_SHORT = FILLER.slice(0, 10);

test("recover-marks.2 spans of a damaged batch are replayed from their requests, and count as pending, not as lost", async () => {
  const disk = createMemoryDisk();
  const first = await opened(disk.files);
  const requests = [await append(first, "a", "b"), await append(first, "c")];
  const batch = await appendBatch(first, requests);
  const filtered = await append(first, "d");
  await append(first, FILLER); // fills segment 1
  await append(first, "new books");
  first.spool.requestDone(filtered, [0]);
  await turns();
  const crashed = damaged(disk, batch);
  for (let start = 0; start < 2; start++) {
    const again = await opened(crashed.files);
    assert.deepEqual(await replayedIn(again), ["a", "b", "c", "new books", FILLER_SHORT]);
    assert.deepEqual(totals(again.accounting), [6, 1, 0]);
    await turns();
  }
});

test("recover-marks.2 they stay pending when the damaged segment is put aside, until another batch has them", async () => {
  const disk = createMemoryDisk();
  const first = await opened(disk.files);
  const requests = [await append(first, "a", "b"), await append(first, FILLER)]; // fill segment 1
  await append(first, "in segment 2");
  const batch = await appendBatch(first, requests.slice(0, 1));
  assert.deepEqual([requests[0]?.segment, batch.segment], [1, 2]);
  const later = await append(first, FILLER); // fills segment 2
  await append(first, "last");
  const crashed = damaged(disk, batch);
  const second = await opened(crashed.files);
  for (const request of second.recovered.requests)
    if (request.segment > 1)
      second.spool.requestDone(
        request,
        Array.from({ length: request.spans }, (_, at) => at),
      );
  assert.equal(later.segment, 2);
  await append(second, "another");
  await turns();
  assert.ok(crashed.contents.has(`${buildLogPath(2)}.bad`), "nothing intact is live in segment 2");
  const third = await opened(crashed.files);
  assert.deepEqual(await replayedIn(third), ["a", "another", "b", FILLER_SHORT]);
  assert.deepEqual(totals(third.accounting), [7, 3, 0]);
  const replacing = await appendBatch(third, third.recovered.requests);
  await turns();
  const fourth = await opened(crashed.files);
  assert.deepEqual(await replayedIn(fourth), []);
  assert.deepEqual([fourth.recovered.batches.length, fourth.recovered.batches[0]?.offset], [1, replacing.offset]);
});

test("recover-marks.3 of a damaged batch only undelivered runs without their requests are lost", async () => {
  const disk = createMemoryDisk();
  const first = await opened(disk.files);
  const gone = await append(first, "a", "b", FILLER); // fills segment 1
  const kept = await append(first, "c", "d");
  const batch = await appendBatch(first, [gone, kept]);
  deliver(first, batch, 0, 1);
  await append(first, FILLER);
  await append(first, "next one");
  await turns();
  assert.ok(!disk.contents.has(buildLogPath(1)), "all of it is in the batch");
  const again = await opened(damaged(disk, batch).files);
  assert.deepEqual(await replayedIn(again), ["c", "d", "next one", FILLER_SHORT]);
  assert.deepEqual(totals(again.accounting), [7, 0, 3], "a delivered run may be one of the lost or of the replayed");
});

test("recover-marks.1 a delivered batch stands for its spans, damaged or removed, at every moment of its removal", async () => {
  const disk = createMemoryDisk();
  const images: MemoryDisk[] = [];
  let isDelivered = false;
  const capture = (): void => {
    if (isDelivered) images.push(disk.image((_, synced) => synced));
  };
  const first = await opened(hookedFiles(disk.files, capture));
  const delivered = await append(first, "a");
  await append(first, "pending");
  await append(first, FILLER); // fills segment 1, which stays
  const batch = await appendBatch(first, [delivered]);
  const filler = await append(first, FILLER); // fills segment 2
  deliver(first, batch, 0, 1);
  first.spool.requestDone(filler, [0]);
  await turns();
  const whole = createMemoryDisk(disk.contents);
  isDelivered = true;
  await append(first, "next"); // segment 3: segment 2 may go
  await turns();
  assert.ok(!disk.contents.has(buildLogPath(2)) && images.length > 3);
  const harmed = damaged(whole, batch);
  const stale = await opened(whole.files); // removes segment 2, and writes no newer books
  await turns();
  assert.ok(!whole.contents.has(buildLogPath(2)));
  assert.equal(stale.recovered.requests.length, 2);
  await opened(whole.files); // keeps the marks of segment 2
  for (const image of [...images, disk, whole, harmed]) {
    const names = await replayedIn(await opened(image.files));
    assert.ok(names.includes("pending") && !names.includes("a"), names.join());
  }
});

test("saved-accounting.3 a later record makes up for no damaged one", async () => {
  const disk = createMemoryDisk();
  const first = await opened(disk.files, 100_000);
  const lost = await append(first, "a", "b");
  await first.spool.close(); // saves the books behind it
  const content = Buffer.from(disk.contents.get(buildLogPath(1)) ?? assert.fail());
  content[lost.offset + lost.bytes - 3] = 0;
  assert.deepEqual(
    totals((await opened(createMemoryDisk(new Map(disk.contents).set(buildLogPath(1), content)).files)).accounting),
    [2, 0, 2],
  );
});
