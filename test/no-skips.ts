// A reporter that fails a run in which a test was skipped: the person who reads "passed" has the tests that were left out
// in mind, too.
import type { TestEvent } from "node:test/reporters";

export default async function* noSkips(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if ((type !== "test:pass" && type !== "test:fail") || data.skip === undefined) continue;
    process.exitCode = 1;
    yield `✖ skipped: ${data.name} (${data.file}): ${String(data.skip)}\n`;
  }
}
