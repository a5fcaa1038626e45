// The spool against its disk: power cuts at every write, torn and flipped bytes, full disks, failing syncs, foreign
// files. HOLDPOINT_FAULTS=full: 2,000 crash images and more (else some 900), 5,000 bit flips (200), a forged body cut at
// every byte (at every 7th and 61st).
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { crc32 } from "node:zlib";
import { describe, test } from "node:test";
import { type Clock, systemClock } from "../../packages/base/src/clock.ts";
import { createLog } from "../../packages/base/src/log/log.ts";
import type { Body } from "../../packages/collector/src/encode/batch-body.ts";
import { type SpanAccounting, createSpanAccounting } from "../../packages/collector/src/shared/span-accounting.ts";
import { type FilePort, nodeFiles } from "../../packages/collector/src/spool/disk/file-port.ts";
import { SpoolInUseError, lockSpool } from "../../packages/collector/src/service/collector.ts";
import type { Spool } from "../../packages/collector/src/spool/port.ts";
import type { StoredRequest } from "../../packages/collector/src/shared/span-origin.ts";
import {
  RECORD,
  SpoolVersionError,
  encodePlainRecord,
  encodeRecord,
  sealRecord,
} from "../../packages/collector/src/spool/record.ts";
import { createSpool } from "../../packages/collector/src/spool/spool.ts";
import { placeLines } from "../../packages/collector/src/spool/tree-log.ts";
import { type Tenant, hashTenantId } from "../../packages/collector/src/shared/tenants.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { runRing as ring } from "../fakes/keys.ts";
import { createMemoryDisk, hookedFiles, type MemoryDisk } from "../fakes/files.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";

const silent = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
const full = process.env["HOLDPOINT_FAULTS"] === "full";
const DIR = "/spool";
const buildTenant = (apiKey: string, tenantId: string): Tenant => ({
  id: hashTenantId(apiKey, tenantId),
  apiKey,
  tenantId,
});
const tenant = buildTenant("key", "");

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** Every timer fires at the next turn, so that removals and writes of segments overlap. */
const eagerClock: Clock = {
  ...systemClock,
  after: (_, call) => {
    const timer = setImmediate(call);
    return () => clearImmediate(timer);
  },
};

function spoolOn(files: FilePort, log: string[] = [], accounting = createSpanAccounting()): Spool {
  return createSpool(
    { dir: DIR, segmentBytesMax: 1500, treeSegmentBytesMax: 1500, treeRunsKept: 1000, treeAgeMs: 300_000 },
    {
      files,
      clock: eagerClock,
      log: createLog({ level: "info", json: true, secrets: [], now: Date.now, write: (line) => void log.push(line) }),
      ring,
      accounting: () => accounting,
      buildTenant,
    },
  );
}

function append(spool: Spool, names: readonly string[]): Promise<StoredRequest> {
  const wire = Buffer.from(JSON.stringify(names));
  return spool.appendRequest({
    tenant,
    signal: "traces",
    format: "json",
    encoding: "identity",
    project: "",
    receivedMs: 1,
    spans: names.length,
    rejected: 0,
    wire,
  });
}

function encodeBody(names: readonly string[]): Body {
  const bytes = Buffer.from(JSON.stringify(names));
  return {
    tenant,
    createdMs: 1,
    boundary: "b",
    encoding: "identity",
    bytes,
    rawBytes: bytes.length,
    offsets: names.map((_, index) => index),
    first: 0,
  };
}

/** Everything that a recovered spool would still deliver, by name. */
async function pendingIn(
  spool: Spool,
): Promise<{ readonly names: Set<string>; readonly bad: number; readonly lost: number }> {
  const recovered = await spool.recover();
  const names = new Set<string>();
  const isPending = (done: Uint8Array | null, index: number): boolean =>
    ((done?.[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
  for (const request of recovered.requests) {
    const record = await spool.readRequest(request);
    const all = JSON.parse(record?.wire.toString() ?? "[]") as string[];
    for (const [index, name] of all.entries()) if (isPending(request.done, index)) names.add(name);
  }
  for (const batch of recovered.batches) {
    const body = await spool.readBatch(batch);
    const all = JSON.parse(body?.bytes.toString() ?? "[]") as string[];
    for (const [index, name] of all.entries()) if (isPending(batch.done, index)) names.add(name);
  }
  await spool.close();
  return { names, bad: recovered.badRecords, lost: recovered.accounting.lost.unreadable };
}

describe("power cuts", () => {
  test("every crash image boots and holds everything acknowledged and not delivered", async () => {
    const random = seeded(7);
    const disk = createMemoryDisk();
    const acked = new Set<string>();
    const settled = new Set<string>();
    const images: { readonly disk: MemoryDisk; readonly must: Set<string> }[] = [];
    const shapes: readonly ((synced: number, all: number) => number)[] = [
      (synced) => synced, // loses everything since the last sync
      (_, all) => all, // loses nothing
      (synced, all) => synced + Math.floor(random() * (all - synced + 1)), // torn
    ];
    const capture = (): void => {
      const must = acked.difference(settled);
      for (const shape of full ? [...shapes, shapes[2] ?? (() => 0)] : shapes)
        images.push({ disk: disk.image((_, synced, all) => shape(synced, all)), must });
    };
    const spool = spoolOn(hookedFiles(disk.files, capture));
    await spool.recover();
    const open: { readonly request: StoredRequest; readonly names: string[] }[] = [];
    for (let round = 0; round < (full ? 120 : 8); round++) {
      const groups = Array.from({ length: 3 }, (_, index) =>
        Array.from({ length: 3 }, (_, span) => `${round}.${index}.${span}`),
      );
      const requests = await Promise.all(
        groups.map(async (names) => {
          const request = await append(spool, names);
          for (const name of names) acked.add(name);
          return { request, names };
        }),
      );
      open.push(...requests);
      const pulled = open.splice(0, 2);
      const names = pulled.flatMap((one) => one.names);
      const covers = pulled.flatMap(({ request, names }) => names.map((_, index) => ({ request, index })));
      const places = names.map((name) => ({
        id: name,
        traceId: "0".repeat(32),
        spanId: "0".repeat(16),
        dottedOrder: "x",
      }));
      const batch = await spool.appendBatch({ body: encodeBody(names), places: placeLines(places), covers });
      for (const name of names.slice(0, 4)) settled.add(name);
      spool.batchDone(batch, 0, 4);
      if (random() < 0.7) {
        for (const name of names.slice(4)) settled.add(name);
        spool.batchDone(batch, 4, names.length - 4);
      }
    }
    await spool.close();
    capture();
    assert.ok(images.length >= (full ? 2000 : 300), `${images.length} images`);
    for (const { disk, must } of images) {
      const { names, lost: counted } = await pendingIn(spoolOn(disk.files));
      const lost = must.difference(names);
      assert.equal(counted, 0, "no span counts as lost");
      assert.equal(lost.size, 0, `lost ${[...lost].slice(0, 5).join(", ")}`);
    }
  });

  test("delivered batches do not return after the removal of the segment with their marks", async () => {
    const disk = createMemoryDisk();
    let removed = false;
    const cut = Promise.withResolvers<MemoryDisk>();
    const spool = spoolOn(
      hookedFiles(disk.files, (operation, when, path) => {
        if (when !== "after") return;
        if (operation === "unlink" && path === `${DIR}/0000000002.log`) removed = true;
        if (operation === "syncDir" && removed) cut.resolve(disk.image((_, synced) => synced));
      }),
    );
    await spool.recover();
    const filler = "x".repeat(1600);
    const request = await append(spool, ["delivered", "pending", filler]); // fills segment 1, which stays
    const place = { id: "i", traceId: "0", spanId: "0", dottedOrder: "x" };
    const batch = await spool.appendBatch({
      body: encodeBody(["delivered", filler]),
      places: placeLines([place]),
      covers: [{ request, index: 0 }],
    });
    assert.deepEqual([request.segment, batch.segment], [1, 2]);
    spool.batchDone(batch, 0, 2);
    await append(spool, [filler]); // segment 3: now the second may go
    const { names } = await pendingIn(spoolOn((await cut.promise).files));
    assert.deepEqual([names.has("pending"), names.has("delivered")], [true, false]);
    await spool.close();
  });

  test("an acknowledgement waits for the sync of its record and of the name of its file", async () => {
    const disk = createMemoryDisk();
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const spool = spoolOn(
      hookedFiles(disk.files, async (operation, when) => {
        if (operation === "sync" && when === "before") await held.promise;
        if (when === "after") order.push(operation);
      }),
    );
    await spool.recover();
    order.length = 0;
    const acknowledged = append(spool, ["a"]).then(() => order.push("acknowledged"));
    while (!order.includes("write")) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(!order.includes("acknowledged"));
    held.resolve();
    await acknowledged;
    assert.ok(
      order.indexOf("syncDir") < order.indexOf("acknowledged") && order.indexOf("sync") < order.indexOf("acknowledged"),
    );
    await spool.close();
  });
});

describe("damage", () => {
  async function written(): Promise<{ disk: MemoryDisk; all: Set<string> }> {
    const disk = createMemoryDisk();
    const spool = spoolOn(disk.files);
    await spool.recover();
    const all = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const names = [`${round}.a`, `${round}.b`];
      await append(spool, names);
      for (const name of names) all.add(name);
    }
    await spool.close();
    return { disk, all };
  }

  test(`${full ? 5000 : 200} bit flips: it starts each time, and loses at most the record that was hit`, async () => {
    const random = seeded(11);
    const { disk, all } = await written();
    const logs = [...disk.contents].filter(([path]) => path.endsWith(".log"));
    for (let flip = 0; flip < (full ? 5000 : 200); flip++) {
      const contents = new Map([...disk.contents].map(([path, content]) => [path, Buffer.from(content)]));
      const [path] = logs[Math.floor(random() * logs.length)] ?? assert.fail();
      const content = contents.get(path) ?? assert.fail();
      const at = Math.floor(random() * content.length);
      content[at] = (content[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      const { names } = await pendingIn(spoolOn(createMemoryDisk(contents).files));
      assert.ok(all.difference(names).size <= 2, `flip at ${path}:${at} lost ${[...all.difference(names)].join()}`);
      assert.ok(names.isSubsetOf(all));
    }
  });

  test("recovers every intact record of a file truncated at any byte of its end", async () => {
    const { disk } = await written();
    const [path, content] = [...disk.contents].filter(([name]) => name.endsWith(".log")).at(-1) ?? assert.fail();
    for (let cut = content.length; cut >= Math.max(0, content.length - (full ? 700 : 120)); cut--) {
      const contents = new Map(disk.contents).set(path, content.subarray(0, cut));
      const { names } = await pendingIn(spoolOn(createMemoryDisk(contents).files));
      assert.ok(names.size >= 18);
    }
  });

  test("zeroed, empty and missing files, and files of others, do not keep it from starting", async () => {
    const { disk, all } = await written();
    const logs = [...disk.contents.keys()].filter((path) => path.endsWith(".log"));
    const cases: ((contents: Map<string, Buffer>) => void)[] = [
      (contents) => contents.set(logs[0] ?? "", Buffer.alloc(500)),
      (contents) => contents.set(logs[1] ?? "", Buffer.alloc(0)),
      (contents) => contents.delete(logs[2] ?? ""),
      (contents) => contents.set(`${DIR}/notes.txt`, Buffer.from("mine")),
    ];
    for (const damage of cases) {
      const contents = new Map(disk.contents);
      damage(contents);
      const { names } = await pendingIn(spoolOn(createMemoryDisk(contents).files));
      assert.ok(names.size >= 6 && names.isSubsetOf(all));
    }
  });

  test("a damaged middle is counted and logged once, and its file kept under another name when it is done with", async () => {
    const { disk } = await written();
    const [path, content] = [...disk.contents].find(([name]) => name.endsWith(".log")) ?? assert.fail();
    const damaged = Buffer.from(content);
    damaged[Math.floor(content.length / 2)] = (damaged[Math.floor(content.length / 2)] ?? 0) ^ 0xff;
    const again = createMemoryDisk(new Map(disk.contents).set(path, damaged));
    const log: string[] = [];
    const spool = spoolOn(again.files, log);
    const recovered = await spool.recover();
    assert.equal(recovered.badRecords, 1);
    assert.equal(log.filter((line) => line.includes("spool_file_damaged")).length, 1);
    for (const request of recovered.requests) spool.requestDone(request, [0, 1]);
    await spool.close();
    assert.ok(again.contents.has(`${path}.bad`));
  });

  for (const replaced of [false, true]) {
    test(`a closed segment that is ${replaced ? "replaced" : "deleted"} under the spool is named, and delays no other`, async () => {
      const disk = createMemoryDisk();
      const log: string[] = [];
      const spool = spoolOn(disk.files, log);
      await spool.recover();
      const requests: StoredRequest[] = [];
      for (let at = 0; at < 40; at++) requests.push(await append(spool, [`${at}`]));
      const segments = [...new Set(requests.map(({ segment }) => segment))];
      const [gone = -1] = segments;
      assert.ok(segments.length > 2);
      const buildLogPath = (segment: number): string => `${DIR}/${String(segment).padStart(10, "0")}.log`;
      await disk.files.unlink(buildLogPath(gone));
      if (replaced) await (await disk.files.create(buildLogPath(gone))).write([Buffer.from("of another program")]);
      await spool.checkSegments();
      await spool.checkSegments();
      assert.match(
        spool.missing() ?? "",
        new RegExp(`^${buildLogPath(gone).slice(DIR.length + 1)} was deleted or replaced`),
      );
      assert.equal(log.filter((line) => line.includes("spool_segment_gone")).length, 1);
      for (const request of requests)
        assert.equal((await spool.readRequest(request)) === null, request.segment === gone);
      for (const request of requests) spool.requestDone(request, [0]);
      await spool.close();
      assert.equal(spool.missing(), null);
      assert.equal(disk.contents.has(buildLogPath(gone)), replaced);
      for (const segment of segments.slice(1, -1)) assert.ok(!disk.contents.has(buildLogPath(segment)));
      assert.ok(!log.some((line) => line.includes("spool_collect_failed")));
    });
  }

  for (const damaged of [false, true])
    test(`after a crash, undelivered spans of a ${damaged ? "damaged" : "deleted"} segment count as lost, once`, async () => {
      const disk = createMemoryDisk();
      const { spool, accounting } = await opened(disk);
      const requests = await fill(spool, accounting);
      const [{ segment, offset } = assert.fail()] = requests;
      const own = requests.filter((request) => request.segment === segment);
      spool.requestDone(own[0] ?? assert.fail(), [0]); // delivered
      await append(spool, []); // its mark is on disk by then
      const contents = new Map(disk.contents);
      const path = `${DIR}/${String(segment).padStart(10, "0")}.log`;
      if (damaged) contents.set(path, Buffer.from(contents.get(path) ?? assert.fail()).fill(0, offset));
      else contents.delete(path);
      const books = { received: 80, delivered: 1, lost: own.length * 2 - 1 };
      const crashed = createMemoryDisk(contents);
      for (let start = 0; start < 2; start++) {
        const log: string[] = [];
        const again = await opened(crashed, log);
        assert.deepEqual(totals(again.accounting), books);
        assert.equal(log.filter((line) => line.includes("spool_spans_lost")).length, 1, "until newer books are there");
      }
      const next = await opened(crashed);
      await fill(next.spool, next.accounting);
      const log: string[] = [];
      const last = await opened(crashed, log);
      assert.deepEqual(totals(last.accounting), { ...books, received: 160 });
      assert.ok(!log.some((line) => line.includes("spool_spans_lost")));
    });

  test("spans of a segment that was removed when it was done with never count as lost", async () => {
    const disk = createMemoryDisk();
    const images: MemoryDisk[] = [];
    const { spool, accounting } = await opened(disk, [], () => images.push(disk.image((_, synced) => synced)));
    for (const request of await fill(spool, accounting)) spool.requestDone(request, [0, 1]);
    while (listLogs(disk).length > 1) await new Promise((resolve) => setImmediate(resolve)); // all but the open one
    await spool.close();
    for (const image of images) assert.equal((await opened(image)).accounting.lost.unreadable, 0);
    assert.deepEqual(totals((await opened(disk)).accounting), { received: 80, delivered: 80, lost: 0 });
    const left = [...disk.contents.keys()];
    for (const path of left.filter((name) => name.endsWith(".marks")))
      assert.ok(left.includes(path.replace(".marks", ".log")), `${path} is left of its segment`);
  });

  /** A recovered spool that keeps its totals. */
  async function opened(disk: MemoryDisk, log: string[] = [], hook: () => void = () => undefined) {
    const accounting = createSpanAccounting();
    const spool = spoolOn(hookedFiles(disk.files, hook), log, accounting);
    Object.assign(accounting, (await spool.recover()).accounting);
    return { spool, accounting };
  }

  /** Forty requests with two spans each, over several segments. */
  async function fill(spool: Spool, accounting: SpanAccounting): Promise<readonly StoredRequest[]> {
    const requests: StoredRequest[] = [];
    for (let at = 0; at < 40; at++) {
      requests.push(await append(spool, [`${at} a`, `${at} b`]));
      accounting.received += 2;
    }
    assert.ok(new Set(requests.map(({ segment }) => segment)).size > 2);
    return requests;
  }

  function listLogs(disk: MemoryDisk): readonly string[] {
    return [...disk.contents.keys()].filter((path) => path.endsWith(".log"));
  }

  function totals({ received, delivered, lost }: SpanAccounting) {
    return { received, delivered, lost: lost.unreadable };
  }

  /** Records forged by a sender: reading one would stop the start, or forge another sender's span. */
  function planted(): Buffer {
    const foreign = {
      apiKey: "stolen",
      tenantId: "",
      format: "json",
      encoding: "identity",
      project: "",
      receivedMs: 1,
    };
    const request = { ...foreign, spans: 1, rejected: 0 };
    const wire = Buffer.from('["planted"]');
    const nonsense = encodePlainRecord(RECORD.accounting, {});
    nonsense[0].write("{x", nonsense[0].length - 2);
    nonsense[0].writeUInt32LE(crc32(nonsense[0].subarray(12)), 8);
    const sealed = [0, 1].flatMap((segment) =>
      Array.from({ length: 40 }, (_, at) => {
        const record = encodeRecord(RECORD.request, request, wire);
        sealRecord(record, { segment, salt: "" }, at * 16);
        return record;
      }),
    );
    const plain = [
      encodePlainRecord(RECORD.request, request, wire),
      encodePlainRecord(RECORD.batch, { ...foreign, covers: 1 }),
      encodePlainRecord(RECORD.accounting, { received: 1e9 }),
      nonsense,
      encodePlainRecord(RECORD.file, { format: 99 }),
    ];
    return Buffer.concat([...plain, ...sealed].flat());
  }
  /** Requests in one file: the middle one holds the forged record. */
  async function hostile(): Promise<{ readonly path: string; readonly file: Buffer; readonly at: number[] }> {
    const path = `${DIR}/0000000001.log`;
    const wires = [
      Buffer.from('["before"]'),
      Buffer.concat([planted(), Buffer.from('["carrier"]')]),
      Buffer.from('["after"]'),
    ];
    const disk = createMemoryDisk();
    const spool = createSpool(
      { dir: DIR, segmentBytesMax: 1e6, treeSegmentBytesMax: 1500, treeRunsKept: 1000, treeAgeMs: 300_000 },
      { files: disk.files, clock: eagerClock, log: silent, ring, accounting: createSpanAccounting, buildTenant },
    );
    await spool.recover();
    const at: number[] = [];
    for (const wire of wires) {
      const request = {
        tenant,
        signal: "traces",
        format: "json",
        encoding: "identity",
        project: "",
        receivedMs: 1,
      } as const;
      at.push((await spool.appendRequest({ ...request, spans: 1, rejected: 0, wire })).offset);
    }
    const file = Buffer.from(disk.contents.get(path) ?? assert.fail());
    await spool.close();
    return { path, file, at };
  }

  /** The wires of the pending requests, or the reason why it does not start. */
  async function recovered(path: string, file: Buffer): Promise<readonly string[]> {
    const spool = spoolOn(createMemoryDisk(new Map([[path, file]])).files);
    const { requests, batches } = await spool.recover();
    const records = await Promise.all(requests.map((request) => spool.readRequest(request)));
    assert.deepEqual(
      [requests.map((request) => request.tenant.apiKey).filter((key) => key !== "key"), batches],
      [[], []],
    );
    await spool.close();
    return records.map((record) => record?.wire.toString("latin1").match(/\["(before|carrier|after)"\]$/)?.[1] ?? "?");
  }

  /** The short records come first in the forged body; all others are longer than 61 bytes. */
  const stepAt = (byte: number): number => {
    if (full) return 1;
    return byte < 1000 ? 7 : 61;
  };
  test("records that a sender has put into a body are never read, however the write of it is torn", async () => {
    const { path, file, at } = await hostile();
    const [, carrier = 0, after = 0] = at;
    assert.deepEqual(await recovered(path, file), ["before", "carrier", "after"]);
    for (let cut = carrier; cut < after; cut += stepAt(cut - carrier))
      assert.deepEqual(await recovered(path, file.subarray(0, cut)), ["before"], `cut ${cut - carrier} bytes into it`);
    const damaged = Buffer.from(file);
    damaged[after - 1] = (damaged[after - 1] ?? 0) ^ 1;
    assert.deepEqual(await recovered(path, damaged), ["before", "after"], "its content is damaged");
  });

  test("nor are they when the frame around them is damaged: the next record is found all the same", async () => {
    const { path, file, at } = await hostile();
    const [, carrier = 0] = at;
    for (let byte = 0; byte < 20; byte++) {
      const damaged = Buffer.from(file);
      damaged[carrier + byte] = (damaged[carrier + byte] ?? 0) ^ 0x10;
      assert.deepEqual(await recovered(path, damaged), ["before", "after"], `byte ${byte} of the frame`);
    }
  });

  test("an intact record at another place, or in another file, is none", async () => {
    const { path, file, at } = await hostile();
    const [before = 0, carrier = 0] = at;
    const copy = file.subarray(before, carrier);
    assert.deepEqual(await recovered(path, Buffer.concat([file.subarray(0, carrier), copy])), ["before"]);
    assert.deepEqual(await recovered(`${DIR}/0000000002.log`, file), []);
  });

  test("a spool of a newer format is refused by name, and not touched", async () => {
    const newer = Buffer.concat(encodePlainRecord(RECORD.file, { format: 99 }));
    const disk = createMemoryDisk(new Map([[`${DIR}/0000000001.log`, newer]]));
    await assert.rejects(spoolOn(disk.files).recover(), SpoolVersionError);
    assert.deepEqual(disk.contents.get(`${DIR}/0000000001.log`), newer);
    assert.equal(disk.contents.size, 1);
  });
});

describe("a disk that refuses", () => {
  /** A collector whose spool fails while `broken` returns true. */
  async function withFailing(
    run: (ports: {
      send: (trace: number) => Promise<number>;
      break: (what: string | null) => void;
      ready: () => Promise<number>;
      whenReady: () => Promise<void>;
    }) => Promise<void>,
  ): Promise<{ delivered: Set<string> }> {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-disk-`);
    const backend = await startBackend();
    let broken: string | null = null;
    const files = hookedFiles(nodeFiles, (operation, when) => {
      if (when === "before" && broken === operation) throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
    });
    const collector = await startCollector(backend.url, { SPOOL_DIR: dir }, { files });
    const ready = async (): Promise<number> => (await fetch(`${collector.url}/ready`)).status;
    await run({
      send: async (trace) => (await collector.send(protobufRequest([buildSpan(trace, 0)]))).status,
      break: (what) => void (broken = what),
      ready,
      whenReady: async () => {
        while ((await ready()) !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
      },
    });
    await collector.stop();
    await backend.close();
    await rm(dir, { recursive: true });
    assert.deepEqual(backend.violations, []);
    return { delivered: new Set(backend.runs.map((run) => String(run.main["name"]))) };
  }

  for (const operation of ["write", "sync", "create"])
    test(`no request is answered 200 after its ${operation} failed; it heals by itself`, async () => {
      const acked: string[] = [];
      const { delivered } = await withFailing(async ({ send, break: breakIt, ready, whenReady }) => {
        if (operation !== "create") assert.equal(await send(1), 200);
        breakIt(operation);
        for (let trace = 10; trace < 15; trace++) assert.equal(await send(trace), 503);
        assert.equal(await ready(), 503);
        breakIt(null);
        await whenReady();
        assert.equal(await send(20), 200);
        acked.push(...(operation === "create" ? [] : ["span 1.0"]), "span 20.0");
      });
      assert.ok(new Set(acked).isSubsetOf(delivered));
    });

  for (const broken of ["write", "sync"] as const)
    test(`after a failed ${broken} the file is abandoned: later records go to another one, and are on disk before the acknowledgement`, async () => {
      const disk = createMemoryDisk();
      let failing = false;
      const files = hookedFiles(disk.files, (operation, when) => {
        if (failing && operation === broken && when === "before") throw new Error("EIO: injected");
      });
      const spool = spoolOn(files);
      await spool.recover();
      const first = await append(spool, ["first"]);
      failing = true;
      await assert.rejects(append(spool, ["refused"]));
      failing = false;
      const next = await append(spool, ["next"]);
      assert.ok(next.segment > first.segment);
      const { names } = await pendingIn(spoolOn(disk.image((_, synced) => synced).files));
      assert.deepEqual(names, new Set(["first", "next"]));
      await spool.close();
    });

  test("on a disk too full for a mark, segments in which nothing is left go all the same, from the oldest up to the first in use", async () => {
    const disk = createMemoryDisk();
    const log: string[] = [];
    let isFull = false;
    const logs = (): string[] => [...disk.contents.keys()].filter((path) => path.endsWith(".log")).sort();
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const files = hookedFiles(disk.files, (operation, when) => {
      if (isFull && operation === "write" && when === "before") throw new Error("ENOSPC: injected");
    });
    const spool = spoolOn(files, log);
    await spool.recover();
    const requests: StoredRequest[] = [];
    for (let at = 0; requests.at(-1)?.segment !== 4; at++) requests.push(await append(spool, [`span ${at}`]));
    const all = logs();
    isFull = true;
    for (const request of requests) if (request.segment !== 2) spool.requestDone(request, [0]);
    while (!log.some((line) => line.includes("spool_collect_failed"))) await turn();
    assert.deepEqual(logs(), all.slice(1), "segment 2 is in use, and what 3 says of it is in no mark yet");
    for (const request of requests) if (request.segment === 2) spool.requestDone(request, [0]);
    while (logs().length > 1) await turn();
    assert.deepEqual(logs(), all.slice(-1), "the one that is written to stays");
    isFull = false;
    await append(spool, ["fresh"]);
    await spool.close();
  });

  test("at SPOOL_MAX_BYTES new requests get 503 and nothing is lost; with the backend back there is room again", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-full-`);
    const backend = await startBackend();
    let well = false;
    backend.script = () => ({ status: well ? 202 : 503 });
    const collector = await startCollector(backend.url, {
      SPOOL_DIR: dir,
      SPOOL_MAX_BYTES: "2097152",
      retryCooldownMs: "20",
    });
    const noise = (): string => Array.from({ length: 4000 }, () => Math.random().toString(36)).join("");
    const send = async (trace: number): Promise<Response> =>
      collector.send(protobufRequest([buildSpan(trace, 0, undefined, { attributes: { "gen_ai.prompt": noise() } })]));
    let pulled = 0;
    for (let trace = 0; ; trace++) {
      const response = await send(trace);
      if (response.status !== 200) {
        assert.equal(response.status, 503);
        assert.equal(response.headers.get("retry-after"), "1");
        break;
      }
      pulled++;
      assert.ok(trace < 200);
    }
    assert.equal((await fetch(`${collector.url}/ready`)).status, 200);
    well = true;
    await backend.whenRuns(pulled);
    for (let trace = 1000; (await send(trace)).status !== 200; trace++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await collector.stop();
    await backend.close();
    await rm(dir, { recursive: true });
  });
});

describe("one owner", () => {
  test("a second process refuses, the files are its owner's only, and the lock dies with its holder", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-lock-`);
    const backend = await startBackend();
    const collector = await startCollector(backend.url, { SPOOL_DIR: dir });
    await assert.rejects(startCollector(backend.url, { SPOOL_DIR: dir }), SpoolInUseError);
    await collector.send(protobufRequest([buildSpan(1, 0)]));
    for (const name of ["0000000001.log", "lock"]) assert.equal((await stat(`${dir}/${name}`)).mode & 0o077, 0, name);
    await collector.stop();
    const lock = lockSpool(dir, systemClock, silent);
    lock.release();
    await backend.close();
    await rm(dir, { recursive: true });
  });

  test("a folder or an unreadable file in the place of a segment is put aside", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-odd-`);
    await mkdir(`${dir}/0000000001.log`);
    await writeFile(`${dir}/0000000002.log`, "x");
    await chmod(`${dir}/0000000002.log`, 0o000);
    const backend = await startBackend();
    const collector = await startCollector(backend.url, { SPOOL_DIR: dir });
    assert.equal((await collector.send(protobufRequest([buildSpan(1, 0)]))).status, 200);
    await backend.whenRuns(1);
    await collector.stop();
    await backend.close();
    await rm(dir, { recursive: true });
  });
});
