// Tests of v8-heap.ts. The flags are process-wide, so the test has a process of its own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const AT_REST_BYTES = 16 * 1024 * 1024;
/** Above the size to which one check period may overshoot. */
const LARGE_BYTES = 2.5 * AT_REST_BYTES;

/** Allocates until a line of input, and prints the size of its young generation. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { keepHeapSmall, giveHeapRoomUnderLoad } from ${JSON.stringify(new URL("./v8-heap.ts", import.meta.url).href)};
  keepHeapSmall();
  giveHeapRoomUnderLoad(1000);
  let loaded = true;
  let kept = [];
  const work = () => {
    for (let n = 0; n < 20_000; n++) kept.push({ n, text: ["x", n] });
    if (kept.length > 400_000 || !loaded) kept = [];
    if (loaded) setImmediate(work);
  };
  work();
  process.stdin.once("data", () => (loaded = false));
  setInterval(() => {
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size);
  }, 100);
`;

test("the young generation grows under load, and is small again after it (v8-heap.1, v8-heap.2)", async (t) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  const sizes = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const until = async (matches: (bytes: number) => boolean): Promise<void> => {
    for (;;) {
      const { done, value } = await sizes.next();
      if (done === true) assert.fail("the process ended");
      if (matches(Number(value))) return;
    }
  };
  await until((bytes) => bytes > LARGE_BYTES);
  child.stdin.write("rest\n");
  await until((bytes) => bytes <= AT_REST_BYTES);
});

test("the young generation of a server has room for the load of its modules (v8-heap.4)", async () => {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { keepHeapSmall, giveHeapRoomUnderLoad } from ${JSON.stringify(new URL("./v8-heap.ts", import.meta.url).href)};
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
