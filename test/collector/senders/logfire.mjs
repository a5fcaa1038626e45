// Sender: see package.json for its version. A span with tags, a log inside it, and a span that fails.
import * as logfire from "logfire";
import { startProvider } from "./exporter.mjs";

const provider = startProvider();
await logfire.span("asking {city}", {
  attributes: { city: "Paris", request: { words: ["a", "b"] } },
  tags: ["t1"],
  callback: () => Promise.resolve(logfire.info("rain in {city}", { city: "Paris" })),
});
await logfire.span("breaks", {}, {}, () => Promise.reject(new Error("no network"))).catch(() => undefined);
await provider.forceFlush();
await provider.shutdown();
