// Tests of the size limit of problems: problem-size.1 to problem-size.3, on arbitrary members; the member order for
// readers.
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../api-error.ts";
import { problemObject } from "./problem.ts";

const seed = Number(process.env["HOLDPOINT_TEST_SEED"] ?? Date.now() % 0x7fffffff);
console.log(`problem size: seed ${seed}`);

const countProblemBytes = (problem: object): number => Buffer.byteLength(JSON.stringify(problem));

test("any problem has at most 1,024 bytes, with the readable members first (problem-size.1)", () => {
  const members = fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 });
  fc.assert(
    fc.property(
      fc.string({ maxLength: 3000, unit: "grapheme" }),
      members,
      fc.array(fc.jsonValue()),
      (detail, extra, list) => {
        const { title: _t, detail: _d, message: _m, type: _y, status: _s, code: _c, ...others } = extra;
        const problem = problemObject(new ApiError("interrupt_stale", detail, { ...others, pending: list }));
        assert.ok(countProblemBytes(problem) <= 1024, `${countProblemBytes(problem)}: ${JSON.stringify(problem)}`);
        assert.deepEqual(
          Object.keys(problem)
            .filter((name) => !/^\d+$/.test(name))
            .slice(0, 3),
          ["title", "detail", "message"],
        );
        assert.equal((problem as { readonly code: string }).code, "interrupt_stale");
      },
    ),
    { numRuns: 500, seed },
  );
});

test("a short problem stays unchanged", () => {
  const extra = { thread_status: "idle", pending: [{ id: "a", value: 1 }] };
  const problem = problemObject(new ApiError("interrupt_stale", "Why.", extra)) as Record<string, unknown>;
  assert.deepEqual({ ...problem, ...extra }, problem);
});

test("of many long interrupts the ids stay, then as many as fit, with their number (problem-size.2, problem-size.3)", () => {
  const question = (at: number) => ({ id: String(at).padStart(32, "0"), value: "x".repeat(300), response_schema: {} });
  const of = (count: number) => {
    const pending = Array.from({ length: count }, (_, at) => question(at));
    const extra = { thread_status: "interrupted", answered: { run_id: "r" }, pending, see: "/threads/t/state" };
    return problemObject(new ApiError("answer_ambiguous", "Which?", extra)) as Record<string, never>;
  };
  const [few, many] = [of(5), of(500)];
  assert.deepEqual(
    few["pending"],
    Array.from({ length: 5 }, (_, at) => ({ id: question(at).id })),
  );
  const { pending, pending_count: count, ...rest } = many as unknown as { pending: unknown[]; pending_count: number };
  assert.ok(pending.length > 3 && count === 500, `${pending.length} of ${count}`);
  assert.deepEqual([rest["answered" as never], rest["see" as never]], [{ run_id: "r" }, "/threads/t/state"]);
});
