// Tests of v8-heap.ts. The flags are process-wide, so the test has a process of its own.
import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const AT_REST_BYTES = 16 * 1024 * 1024;
const LARGE_BYTES = 2.5 * AT_REST_BYTES;
/** V8 alone grows beyond it before the first check. */
const LIMIT_BYTES = AT_REST_BYTES / 2;
/** While V8 marks, the young generation has more pages for some time: on a busy machine, for a second. */
const SAMPLES = 30;
const MODULE = JSON.stringify(new URL("./v8-heap.ts", import.meta.url).href);

const settingOf = (bytes: number): string =>
  `setHeapSizes({ youngBytesMax: ${bytes}, threadYoungBytes: ${AT_REST_BYTES}, oldGrowthPercent: 40 })`;

/** Allocates until a line of input, and prints the size of its young generation. */
const programOf = (setting: string): string => `
  import { getHeapSpaceStatistics } from "node:v8";
  import { keepHeapSmall, giveHeapRoomUnderLoad, setHeapSizes } from ${MODULE};
  keepHeapSmall();
  ${setting};
  let loaded = true;
  let kept = [];
  const work = () => {
    for (let n = 0; n < 20_000; n++) kept.push({ n, text: ["x", n] });
    if (kept.length > 400_000 || !loaded) kept = [];
    if (loaded) setImmediate(work);
  };
  const print = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    console.log(2 * (young.space_used_size + young.space_available_size));
  };
  print();
  work();
  process.stdin.once("data", () => (loaded = false));
  setInterval(print, 100);
`;

interface Program {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Size of its young generation in bytes, ten times a second. */
  readonly next: () => Promise<number>;
}

function start(setting: string): Program {
  const child = spawn(process.execPath, ["--input-type=module", "-e", programOf(setting)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const sizes = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<number> => {
    const { done, value } = await sizes.next();
    if (done === true) assert.fail("the process ended");
    return Number(value);
  };
  return { child, next };
}

test("the young generation grows under load, and is small again after it (v8-heap.1, v8-heap.2)", async (t) => {
  const { child, next } = start("giveHeapRoomUnderLoad(1000)");
  t.after(() => child.kill());
  while ((await next()) <= LARGE_BYTES);
  child.stdin.write("rest\n");
  while ((await next()) > AT_REST_BYTES);
});

test("the young generation grows to its limit, and no further (v8-heap.5)", async (t) => {
  const { child, next } = start(settingOf(LIMIT_BYTES));
  t.after(() => child.kill());
  assert.ok((await next()) < LIMIT_BYTES / 2, "it begins small");
  let grown: number[] = [];
  while (grown.length < SAMPLES) {
    const size = await next();
    grown = size > LIMIT_BYTES / 2 ? [...grown, size] : [];
  }
  assert.ok(Math.min(...grown) <= LIMIT_BYTES, String(grown));
});

test("the young generation of a server has room for the load of its modules (v8-heap.4)", async () => {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { keepHeapSmall, giveHeapRoomUnderLoad } from ${MODULE};
    const room = () => getHeapSpaceStatistics().find((one) => one.space_name === "new_space").space_available_size;
    keepHeapSmall();
    const before = room();
    giveHeapRoomUnderLoad();
    console.log(room() / before);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.ok(Number(await text(child.stdout)) > 3);
});

test("a thread has its room from the start, because its young generation does not grow (v8-heap.5)", async () => {
  const program = `
    import { Worker } from "node:worker_threads";
    import { keepHeapSmall, setHeapSizes } from ${MODULE};
    keepHeapSmall();
    ${settingOf(AT_REST_BYTES)};
    const inside = \`
      const { getHeapSpaceStatistics } = require("node:v8");
      const young = getHeapSpaceStatistics().find((one) => one.space_name === "new_space");
      console.log(2 * (young.space_used_size + young.space_available_size));\`;
    new Worker(inside, { eval: true, execArgv: [] });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const bytes = Number(await text(child.stdout)); // used and free, without the heads of pages
  assert.ok(bytes > 0.95 * AT_REST_BYTES && bytes <= AT_REST_BYTES, String(bytes));
});
