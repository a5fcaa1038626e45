// Test of a cron's form: its fields → the body of a call.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cron } from "../../api/types.ts";
import { buildBody, toDraft, findFault, NEW_DRAFT } from "./draft.ts";

const CRON: Cron = {
  cron_id: "01a1fecb-8b82-7235-8d9c-81f4d86eb4c2",
  assistant_id: "01a1fecb-8b82-7235-8d9c-81f4d86eb4c3",
  thread_id: null,
  user_id: null,
  schedule: "30 9 * * *",
  timezone: "Europe/Berlin",
  end_time: "2027-01-02T03:04:00.000Z",
  enabled: true,
  on_run_completed: "keep",
  disabled_reason: null,
  next_run_date: null,
  payload: { input: { topic: "news" } },
  metadata: {},
  created_at: "2026-11-21T00:00:00Z",
  updated_at: "2026-11-21T00:00:00Z",
};

test("an unmodified cron stays unchanged", () => {
  assert.deepEqual(buildBody(toDraft(CRON)), {
    schedule: CRON.schedule,
    timezone: CRON.timezone,
    end_time: CRON.end_time,
    on_run_completed: "keep",
    input: { topic: "news" },
  });
});

test("empty fields become null: no end, UTC", () => {
  const { timezone, end_time: end } = buildBody({ ...NEW_DRAFT, timezone: " ", end: "" });
  assert.deepEqual({ timezone, end }, { timezone: null, end: null });
});

const FAULTS = [
  { name: "no assistant", change: { assistant: "" }, is: /assistant/ },
  { name: "no schedule", change: { schedule: " " }, is: /schedule/ },
  { name: "an input that is no JSON", change: { input: "{" }, is: /^Input: / },
] as const;

for (const { name, change, is } of FAULTS) {
  test(`${name} is an error before the request`, () => {
    assert.equal(findFault(toDraft(CRON)), null);
    assert.match(findFault({ ...toDraft(CRON), ...change }) ?? "", is);
  });
}
