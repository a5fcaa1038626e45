// Tests of send times: send-time.1 and send-time.2, over changes of the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sendTime } from "./send-time.ts";

const BERLIN = {
  from: "18:00",
  to: "08:00",
  days_off: ["sat", "sun"] as ("sat" | "sun")[],
  time_zone: "Europe/Berlin",
};
const NEW_YORK = { from: "22:00", to: "07:30", days_off: [], time_zone: "America/New_York" };

const CASES: readonly (readonly [name: string, rule: Parameters<typeof sendTime>[0], at: string, due: string])[] = [
  ["without a digest or quiet hours: at once", {}, "2026-11-23T06:00:00Z", "2026-11-23T06:00:00Z"],
  ["in working hours: at once", { quiet_hours: BERLIN }, "2026-11-23T10:00:30Z", "2026-11-23T10:00:30Z"],
  ["in the night: in the morning", { quiet_hours: BERLIN }, "2026-11-23T20:15:00Z", "2026-11-24T07:00:00Z"],
  ["after midnight: the same morning", { quiet_hours: BERLIN }, "2026-11-24T03:15:00Z", "2026-11-24T07:00:00Z"],
  ["on Friday evening: on Monday morning", { quiet_hours: BERLIN }, "2026-11-27T18:00:00Z", "2026-11-30T07:00:00Z"],
  ["on a day off at noon: on Monday morning", { quiet_hours: BERLIN }, "2026-11-28T11:00:00Z", "2026-11-30T07:00:00Z"],
  ["over the end of summer time", { quiet_hours: NEW_YORK }, "2026-11-01T03:00:00Z", "2026-11-01T12:30:00Z"],
  ["over the start of summer time", { quiet_hours: NEW_YORK }, "2026-03-08T04:00:00Z", "2026-03-08T11:30:00Z"],
  ["a digest: the end of the period", { digest: { every: "15m" } }, "2026-11-23T06:01:00Z", "2026-11-23T06:15:00Z"],
  ["at the end of a period: the next", { digest: { every: "15m" } }, "2026-11-23T06:15:00Z", "2026-11-23T06:30:00Z"],
  [
    "a digest at times: the next of them",
    { digest: { at: ["09:00", "14:00"], time_zone: "Asia/Tokyo" } },
    "2026-11-23T00:30:00Z",
    "2026-11-23T05:00:00Z",
  ],
  [
    "a digest in quiet hours: at their end",
    { digest: { every: "1h" }, quiet_hours: BERLIN },
    "2026-11-23T16:30:00Z",
    "2026-11-24T07:00:00Z",
  ],
];

for (const [name, rule, at, due] of CASES) {
  test(`${name} (send-time.1)`, () => {
    assert.equal(new Date(sendTime(rule, Date.parse(at), null)).toISOString(), new Date(due).toISOString());
  });
}

test("an item whose deadline would pass first is sent at once (send-time.1)", () => {
  const at = Date.parse("2026-11-23T20:15:00Z");
  assert.equal(sendTime({ quiet_hours: BERLIN }, at, Date.parse("2026-11-24T07:30:00Z")), at);
  assert.notEqual(sendTime({ quiet_hours: BERLIN }, at, Date.parse("2026-11-24T12:00:00Z")), at);
});

test("all items of a period leave at one time (send-time.2)", () => {
  const start = Date.parse("2026-11-23T06:00:00Z");
  const times = [1, 2, 500_000, 899_999].map((ms) => sendTime({ digest: { every: "15m" } }, start + ms, null));
  assert.equal(new Set(times).size, 1);
});
