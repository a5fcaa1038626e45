// Tests of one-copy.ts: events by their seq, filters by their channels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toEventFilter } from "../event-filter.ts";
import { wireEvent } from "../convert/wire-event.ts";
import { firstCopies, type Followed } from "./one-copy.ts";

const event = (seq: number, method: "values" | "tasks" = "values") =>
  wireEvent({ seq, id: String(seq), method, namespace: [], timestamp: 0 }, "{}");
const following = (channels: string[]): Followed => ({ filter: toEventFilter({ channels }), live: null });
const live = (...events: ReturnType<typeof event>[]) => ({ isBaseline: false, isLive: true, events });
const seqs = (events: readonly { readonly seq: number }[]): readonly number[] => events.map(({ seq }) => seq);

test("a live event goes out with the subscription that reaches it first (one-copy.1)", () => {
  const [one, other] = [following(["values"]), following(["values", "tasks"])];
  const all = [one, other];
  assert.deepEqual(seqs(firstCopies(one, all, live(event(1), event(2)))), [1, 2]);
  assert.deepEqual(seqs(firstCopies(other, all, live(event(1), event(2), event(3, "tasks"), event(4)))), [3, 4]);
  assert.deepEqual(seqs(firstCopies(one, all, live(event(4), event(5)))), [5]);
});

test("a replay is whole, and counts for no other subscription (one-copy.1)", () => {
  const [one, late] = [following(["values"]), following(["values"])];
  firstCopies(one, [one, late], live(event(1), event(2)));
  const replay = { ...live(event(1), event(2), event(3)), isLive: false };
  assert.deepEqual(seqs(firstCopies(late, [one, late], replay)), [1, 2, 3]);
  assert.deepEqual(seqs(firstCopies(one, [one, late], live(event(3)))), [3]);
});
