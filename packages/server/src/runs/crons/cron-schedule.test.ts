// Tests of cron schedules: ticks in their zones, over both changes of the clocks, and malformed schedules
// (cron-schedule.1, cron-schedule.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextTick } from "./cron-schedule.ts";

/** Ticks one after the other, without the seconds. */
function ticks(schedule: string, timezone: string | null, from: string, end: string | null = null): readonly string[] {
  const endTime = end === null ? null : Date.parse(end);
  const found: string[] = [];
  let at: number | null = Date.parse(from);
  while (found.length < 3) {
    at = nextTick({ schedule, timezone, endTime }, at);
    if (at === null) return [...found, "end"];
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

const CASES: readonly (readonly [
  name: string,
  schedule: string,
  timezone: string | null,
  from: string,
  ticks: readonly string[],
])[] = [
  [
    "without a zone it is UTC",
    "30 9 * * *",
    null,
    "2026-05-01T09:29:59.999Z",
    ["2026-05-01T09:30", "2026-05-02T09:30", "2026-05-03T09:30"],
  ],
  [
    "a tick is after the moment, not at it",
    "* * * * *",
    null,
    "2026-05-01T00:00:00Z",
    ["2026-05-01T00:01", "2026-05-01T00:02", "2026-05-01T00:03"],
  ],
  [
    "weekdays",
    "0 9 * * MON-FRI",
    "America/New_York",
    "2026-10-30T00:00:00Z",
    ["2026-10-30T13:00", "2026-11-02T14:00", "2026-11-03T14:00"],
  ],
  [
    "29 February",
    "0 0 29 2 *",
    null,
    "2026-01-01T00:00:00Z",
    ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"],
  ],
  ["a nickname", "@hourly", null, "2026-05-01T00:30:00Z", ["2026-05-01T01:00", "2026-05-01T02:00", "2026-05-01T03:00"]],
  [
    "spring: an hour that is skipped is due when it would have ended",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00:00Z",
    ["2026-03-29T01:00", "2026-03-30T00:30", "2026-03-31T00:30"],
  ],
  [
    "autumn: a time that comes twice is due once",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-24T12:00:00Z",
    ["2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"],
  ],
  [
    "autumn: every half hour goes on through both hours",
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-10-25T00:00:00Z",
    ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"],
  ],
];

for (const [name, schedule, timezone, from, expected] of CASES) {
  test(`${name}: ${schedule} ${timezone ?? "UTC"} (cron-schedule.1)`, () => {
    assert.deepEqual(ticks(schedule, timezone, from), expected);
  });
}

test("seconds can be the first of six fields (cron-schedule.1)", () => {
  const at = nextTick(
    { schedule: "*/10 * * * * *", timezone: null, endTime: null },
    Date.parse("2026-05-01T00:00:01Z"),
  );
  assert.equal(at, Date.parse("2026-05-01T00:00:10Z"));
});

test("there is no tick at the end or after it (cron-schedule.1)", () => {
  const end = "2026-05-01T00:02:00Z";
  assert.deepEqual(ticks("* * * * *", null, "2026-05-01T00:00:00Z", end), ["2026-05-01T00:01", "end"]);
  assert.deepEqual(ticks("* * * * *", null, end, end), ["end"]);
});

for (const [schedule, timezone, says] of [
  ["61 * * * *", null, /"61 \* \* \* \*" is not a cron schedule: Invalid value for minute: 61\./],
  ["* * * *", null, /is not a cron schedule/],
  ["", null, /is not a cron schedule/],
  ["* * * * * * *", null, /is not a cron schedule/],
  ["now and then", null, /is not a cron schedule/],
  ["@reboot", null, /@reboot is not supported/],
  ["2027-01-01T00:00:00", null, /is a date, not a schedule/],
  ["0 0 31 2 *", null, /is never due/],
  ["* * * * *", "Mars/Olympus", /"Mars\/Olympus" is not a time zone/],
  ["* * * * *", "", /"" is not a time zone/],
] as const) {
  test(`"${schedule}" in ${timezone ?? "UTC"} is refused (cron-schedule.2)`, () => {
    assert.throws(() => nextTick({ schedule, timezone, endTime: null }, 0), says);
  });
}
