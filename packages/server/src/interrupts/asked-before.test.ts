// Tests of asked-before.1: the state table of ARCHITECTURE.md, "The content of an id".
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Review } from "../model/model.ts";
import { interruptRecord, runRecord } from "../model/testkit.ts";
import type { OpenInterrupt } from "../ports/ports.ts";
import { interruptsAfterPause } from "./settle-on-finish.ts";

const ID = "0123456789abcdef0123456789abcdef";
const SMALL = { amount: 5, to: "shop" };
const LARGE = { amount: 1_000_000, to: "mallory" };
const ASKED_AT = 1000;
const AGAIN_AT = 9000;

const VOTED: Review = {
  assignees: [["ann"]],
  approvals: 2,
  rejections: 1,
  fourEyes: false,
  excluded: [],
  escalations: [],
  votes: [{ by: "ann", at: 2000, verdict: "approve", value: "yes" }],
  fault: null,
};

const row = (changes: Partial<Interrupt> = {}): Interrupt =>
  interruptRecord({
    threadId: "t",
    interruptId: ID,
    value: SMALL,
    createdAt: ASKED_AT,
    claim: { by: "ann", at: 2000, until: null },
    expiresAt: 5000,
    onExpiry: { answer: "yes" },
    review: VOTED,
    snoozedUntil: 4000,
    ...changes,
  });

function raise(known: readonly Interrupt[], value: Json, schema: OpenInterrupt["responseSchema"] = null) {
  const { libraryId, taskId, graphNs, checkpointId, index, ns, position } = interruptRecord({
    threadId: "t",
    interruptId: ID,
  });
  const place = { libraryId, taskId, graphNs, checkpointId, index, ns, position };
  const raised: OpenInterrupt = { ...place, interruptId: ID, value, responseSchema: schema };
  return interruptsAfterPause({
    run: runRecord({ runId: "again", threadId: "t" }),
    outcome: { endedBy: "pause", pause: "question", error: null, interrupts: [raised], next: [] },
    known,
    at: AGAIN_AT,
    rootCheckpointId: "c",
    assistant: {},
    startedBy: [],
    outdated: new Set(),
  });
}

const find = ({ open }: ReturnType<typeof raise>): Interrupt => open[0] ?? assert.fail("nothing is open");

test("the same content is the same question, with all that people did (asked-before.1)", () => {
  const changes = raise([row()], { ...SMALL });
  const { interruptId, createdAt, claim, expiresAt, onExpiry, review, snoozedUntil } = find(changes);
  assert.deepEqual([interruptId, createdAt, expiresAt, snoozedUntil], [ID, ASKED_AT, 5000, 4000]);
  assert.deepEqual([claim?.by, onExpiry, review?.votes.length], ["ann", { answer: "yes" }, 1]);
  assert.deepEqual([changes.changed.length, changes.audit], [1, []]);
});

test("a deadline that the graph computes anew changes nothing (asked-before.1)", () => {
  const schema = (time: string) => ({ type: "object", "x-holdpoint-deadline": { expires_at: time } });
  const known = row({ responseSchema: schema("2026-12-01T00:00:00Z") });
  const { interruptId, expiresAt } = find(raise([known], SMALL, schema("2026-12-02T00:00:00Z")));
  assert.deepEqual([interruptId, expiresAt], [ID, 5000]);
});

const HOUR = 3_600_000;
const untilTime = (at: number): string => new Date(at).toISOString();
const timed = (at: number): Json => ({ ...SMALL, expires_at: untilTime(at) });

const COMPUTED: readonly (readonly [what: string, first: Json, again: Json, keepsId: boolean])[] = [
  ["an hour from now", timed(ASKED_AT + HOUR), timed(AGAIN_AT + HOUR), true],
  ["an hour from now, in a list", [timed(ASKED_AT + HOUR)], [timed(AGAIN_AT + HOUR)], true],
  ["seconds until a time", { ...SMALL, expires_in_seconds: 3600 }, { ...SMALL, expires_in_seconds: 3592 }, true],
  ["years later", timed(ASKED_AT + HOUR), timed(AGAIN_AT + 100_000 * HOUR), false],
  ["a deadline where there was none", SMALL, timed(AGAIN_AT + HOUR), false],
  ["no deadline any more", timed(ASKED_AT + HOUR), SMALL, false],
  ["a time that is no deadline", { ...SMALL, at: untilTime(1) }, { ...SMALL, at: untilTime(2) }, false],
  ["a deadline without a form", { ...SMALL, expires_at: "soon" }, { ...SMALL, expires_at: "later" }, false],
  ["-0, which is 0 as JSON", { amount: 0 }, { amount: -0 }, true],
  ["members in another order", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
];

for (const [what, first, again, keepsId] of COMPUTED)
  test(`computed anew: ${what}: ${keepsId ? "the same question, as shown first" : "a new one"} (asked-before.1)`, () => {
    const { interruptId, value } = find(raise([row({ value: first })], again));
    assert.deepEqual([interruptId === ID, value], [keepsId, keepsId ? first : again]);
  });

const OTHER: readonly (readonly [what: string, value: Json, schema: OpenInterrupt["responseSchema"]])[] = [
  ["another payload", LARGE, null],
  ["another schema", SMALL, { type: "string" }],
];

for (const [what, value, schema] of OTHER)
  test(`${what} in place of an open question is a new one, without what people did (asked-before.1)`, () => {
    const changes = raise([row()], value, schema);
    const { interruptId, createdAt, claim, expiresAt, onExpiry, review, snoozedUntil } = find(changes);
    assert.match(interruptId, /^[0-9a-f]{32}$/);
    assert.notEqual(interruptId, ID);
    assert.equal(createdAt, AGAIN_AT, "the notifier sends what is asked now");
    assert.deepEqual([claim, expiresAt, onExpiry, review, snoozedUntil], [null, null, null, null, null]);
    assert.deepEqual(
      changes.changed.map((one) => [one.interruptId, one.state]),
      [
        [ID, "abandoned"],
        [interruptId, "open"],
      ],
    );
    assert.deepEqual(
      changes.audit.map((entry) => [entry.action, entry.interruptId, entry.runId]),
      [
        ["votes_cleared", ID, "again"],
        ["abandoned", ID, "again"],
      ],
    );
  });

const CLOSED: readonly (readonly [what: string, known: Interrupt, value: Json, keepsId: boolean])[] = [
  ["an answered question, the same content", row({ state: "answered" }), SMALL, true],
  ["an answered question, other content", row({ state: "answered" }), LARGE, false],
  ["an abandoned question, the same content", row({ state: "abandoned" }), SMALL, true],
  ["an abandoned question, other content", row({ state: "abandoned" }), LARGE, false],
];

for (const [what, known, value, keepsId] of CLOSED)
  test(`asked again after ${what}: ${keepsId ? "the same id" : "a new id"}, and nothing else stays (asked-before.1)`, () => {
    const { interruptId, createdAt, claim, review } = find(raise([known], value));
    assert.equal(interruptId === ID, keepsId);
    assert.deepEqual([createdAt, claim, review], [AGAIN_AT, null, null]);
  });

test("back to the first content: the first id does not return (asked-before.1)", () => {
  const first = row({ state: "abandoned" });
  const second = row({ interruptId: "f".repeat(32), value: LARGE });
  const { interruptId } = find(raise([first, second], SMALL));
  assert.equal([ID, second.interruptId].includes(interruptId), false);
});
