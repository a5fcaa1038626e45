// Tests of the split: the shares of a request, read by the usual reader, equal the request.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { jsonRequest, protobufRequest, spanOf, type TestSpan } from "../../../../test/fakes/otlp.ts";
import { DecodeError, type Decoded } from "../decoded.ts";
import { readJson } from "../json.ts";
import { readProtobuf } from "../protobuf.ts";
import type { Share } from "./rules.ts";
import { split } from "./split.ts";
import type { WireFormat } from "../status.ts";

function finish<T>(steps: Generator<undefined, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

function read(body: Buffer, format: WireFormat): Decoded {
  return finish(format === "json" ? readJson(body) : readProtobuf(body));
}

function splitOf(body: Buffer, format: WireFormat, workers: number): Share[] {
  return finish(split(body, format, { signal: "traces", workers, tenantOwner: 0 }));
}

const spans: readonly TestSpan[] = Array.from({ length: 60 }, (_, index) => spanOf(index % 13, index));
const bodies = { protobuf: Buffer.from(protobufRequest(spans)), json: Buffer.from(jsonRequest(spans)) };

const named = (decoded: Decoded): string[] => decoded.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`);

describe("split", () => {
  for (const format of ["protobuf", "json"] as const)
    for (const workers of [1, 2, 3, 8]) {
      test(`split.1–2 ${format} for ${workers} workers: every span is in one share, a trace in one only`, () => {
        const body = bodies[format];
        const whole = read(body, format);
        const shares = splitOf(body, format, workers);
        const workerOf = new Map<string, number>();
        const found = new Map<number, string>();
        for (const { bytes, indexes, worker } of shares) {
          const own = read(bytes, format);
          assert.equal(own.spans.length, indexes.length);
          for (const [at, span] of own.spans.entries()) {
            found.set(indexes[at] ?? -1, `${span.traceId} ${span.spanId}`);
            assert.equal(workerOf.get(span.traceId) ?? worker, worker);
            workerOf.set(span.traceId, worker);
            assert.deepEqual(span, whole.spans[indexes[at] ?? -1]);
          }
        }
        const inOrder = [...found].toSorted(([a], [b]) => a - b).map(([, name]) => name);
        assert.deepEqual(inOrder, named(whole));
      });
    }

  test("owner.1 a trace has the same worker in both encodings", () => {
    const workersOf = (format: WireFormat): Map<string, number> =>
      new Map(
        splitOf(bodies[format], format, 5).flatMap(({ bytes, worker }) =>
          read(bytes, format).spans.map(({ traceId }) => [traceId, worker] as const),
        ),
      );
    assert.deepEqual(workersOf("json"), workersOf("protobuf"));
  });

  test("split.2 spans without a trace id go with the first span that has one, and count as rejected there", () => {
    const bad = { ...spanOf(1, 0), traceId: "00".repeat(16) };
    const list = [bad, spanOf(3, 1), bad, spanOf(4, 2)];
    for (const format of ["protobuf", "json"] as const) {
      const body = Buffer.from(format === "json" ? jsonRequest(list) : protobufRequest(list));
      const reads = splitOf(body, format, 8).map(({ bytes }) => read(bytes, format));
      assert.equal(
        reads.reduce((sum, { rejected }) => sum + rejected, 0),
        2,
      );
      assert.ok(reads.every((one) => one.spans.length > 0));
    }
  });

  test("a body that no reader accepts is refused by the split or by the reader of a share", () => {
    const whole = bodies.protobuf;
    const cuts = Array.from({ length: 200 }, (_, at) => whole.subarray(0, Math.floor((whole.length * at) / 200) + 3));
    for (const body of cuts) {
      const outcome = (run: () => unknown): string => {
        try {
          run();
          return "read";
        } catch (error) {
          assert.ok(error instanceof DecodeError);
          return "refused";
        }
      };
      const expected = outcome(() => read(body, "protobuf"));
      const actual = outcome(() => splitOf(body, "protobuf", 4).map(({ bytes }) => read(bytes, "protobuf")));
      assert.equal(actual, expected);
    }
  });

  test("over 1,000 random traces, no worker of eight has a third more than its share", () => {
    const counts = Array.from({ length: 8 }, () => 0);
    const random = Array.from({ length: 1000 }, (_, at) => ({
      ...spanOf(0, at),
      traceId: createHash("sha256").update(String(at)).digest("hex").slice(0, 32),
    }));
    for (const { indexes, worker } of splitOf(Buffer.from(protobufRequest(random)), "protobuf", 8))
      counts[worker] = indexes.length;
    assert.ok(Math.max(...counts) < (1000 / 8) * 1.34, counts.join(" "));
  });
});
