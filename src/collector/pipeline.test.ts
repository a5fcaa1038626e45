import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../test/fakes/clock.ts";
import { protobufRequest, spanOf } from "../../test/fakes/otlp.ts";
import { ASSEMBLE_LIMITS } from "./assemble.ts";
import type { Body } from "./body.ts";
import { createBooks, pendingOf } from "./books.ts";
import type { Lanes, Parcel } from "./lanes.ts";
import { readProtobuf } from "./otlp/protobuf.ts";
import { createPipeline } from "./pipeline.ts";
import { createTranslator } from "./translate/translate.ts";

const silent = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };

test("PI5 a run whose place breaks a rule goes to the dead letters, alone; its neighbours are uploaded", async () => {
  const books = createBooks();
  const offered: Parcel[] = [];
  const buried: Body[] = [];
  const translate = createTranslator({ filterNonGenAi: false, genericOtel: false, project: "" });
  const pipeline = createPipeline(
    { batchSize: 10, bufferBytesMax: 1e6, flushIntervalMs: 10, zstdLevel: 1, assemble: ASSEMBLE_LIMITS },
    {
      clock: createFakeClock(),
      log: silent,
      translate(span, context) {
        const run = translate(span, context);
        return span.name === "span 2.0" ? { ...run, traceId: "no trace id" } : run; // as if a fault of ours made it so
      },
      books,
      lanes: { offer: (parcel: Parcel) => void offered.push(parcel) } as unknown as Lanes,
      backendLimits: () => ({ runsMax: 10, bytesMax: 1e6, encoding: "zstd" }),
      spool: null,
      deadLetters: {
        write: (body) => {
          buried.push(body);
          return Promise.resolve();
        },
      },
      onBatch: () => undefined,
    },
  );
  const request = protobufRequest([spanOf(1, 0), spanOf(2, 0), spanOf(3, 0)]);
  const read = readProtobuf(request).next();
  assert.ok(read.done === true);
  books.received += 3;
  const tenant = { id: "t", apiKey: "k", tenantId: "" };
  await pipeline.feed(read.value.spans, { tenant, project: "", receivedMs: 1 }, null);
  await pipeline.flush();
  assert.deepEqual(
    offered.map(({ runs }) => runs),
    [2],
  );
  assert.deepEqual(
    buried.map(({ offsets }) => offsets.length),
    [1],
  );
  assert.match(buried[0]?.bytes.toString() ?? "", /"name":"span 2.0"/);
  assert.deepEqual([books.deadLettered.misplaced, pendingOf(books)], [1, 2]);
});
