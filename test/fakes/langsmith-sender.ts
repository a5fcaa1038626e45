// The langsmith SDK in its OTel mode, in a separate process: it reads its environment once, at import.
import { initializeOTEL } from "langsmith/experimental/otel/setup";
import { traceable } from "langsmith/traceable";

const [url = ""] = process.argv.slice(2);
const { DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL({
  exporterConfig: { url, headers: { "x-api-key": "sender-key", "Tracing-Project": "senders" } },
});
const inner = traceable((text: string) => Promise.resolve({ answer: text.toUpperCase() }), {
  name: "inner",
  run_type: "llm",
});
const outer = traceable((text: string) => inner(text), { name: "outer", metadata: { user: "u1" }, tags: ["t1"] });
await outer("hello");
await processor.forceFlush();
await processor.shutdown();
process.exit(0);
