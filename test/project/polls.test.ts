// Tests wait for events: output, streams, replies that come late. A poll looks again and again, and each look costs time
// of all the others. Checked:
//   polls.1. Tests and what they share have at most 100 polls: calls of helpers that poll, and loops around a wait.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filesBelow, ROOT } from "./source-files.ts";

const POLLS_MAX = 100;
/** Of harness/threads.ts and harness/faults/fault-server.ts, and of fakes/collector.ts. */
const HELPER = /(?<![.\w]|function )until\((?:"|`|what,|(?:async )?\(\) =>)/g;
const LOOP = /\bwhile \(.*\) .*\b(?:sleep|pause|wait|delay|turn|nextTurn|setTimeout|setImmediate)\b/g;

const findPolls = (text: string): readonly string[] => [HELPER, LOOP].flatMap((kind) => text.match(kind) ?? []);

test("tests poll at most a hundred times (polls.1)", () => {
  const files = [...filesBelow("test"), ...filesBelow("packages").filter((path) => path.includes(".test."))];
  const polls = files
    .filter((path) => /\.(?:ts|tsx|mjs)$/.test(path) && path !== "test/project/polls.test.ts")
    .flatMap((path) => findPolls(readFileSync(join(ROOT, path), "utf8")).map((poll) => `${path}: ${poll}`));
  assert.ok(polls.length > 0 && polls.length <= POLLS_MAX, `${polls.length} polls:\n${polls.join("\n")}`);
});

test("polls of each form are found, and waits for events are none (polls.1)", () => {
  const planted = [
    'await until("the end", async () => isOver());',
    "await until(() => count === 0);",
    "while (!isOver()) await sleep(10);",
    "while (list.length < 2) await new Promise((resolve) => setImmediate(resolve));",
    "await reader.until(isEnd);",
    'await arrivals.when("the end", ([end]) => end);',
    "async function until(what: string): Promise<void> {",
    'while (!text.includes("x")) text += await reader.read();',
  ];
  assert.equal(findPolls(planted.join("\n")).length, 4);
});
