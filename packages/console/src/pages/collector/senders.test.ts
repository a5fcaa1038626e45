// Test of the instructions for senders.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { About } from "../../api/about.ts";
import { headersFor, listSenders } from "./senders.ts";

const setting = (name: string, value: string): About["settings"][number] => ({
  name,
  value,
  origin: "environment",
  secret: false,
  fallback: "none",
  meaning: "",
});

const CASES = [
  { name: "traces are kept here: no header is needed", settings: [setting("TRACING_ENDPOINT", "")], needs: [] },
  {
    name: "a backend and no key of our own: senders bring theirs",
    settings: [setting("TRACING_ENDPOINT", "https://traces.example"), setting("TRACING_API_KEY", "")],
    needs: ["x-api-key"],
  },
  {
    name: "a backend, our key, and a token for senders",
    settings: [
      setting("TRACING_ENDPOINT", "https://traces.example"),
      setting("TRACING_API_KEY", "***"),
      setting("INGEST_TOKEN", "***"),
    ],
    needs: ["authorization"],
  },
];

for (const { name, settings, needs } of CASES) {
  test(name, () => {
    const headers = headersFor(settings);
    assert.deepEqual(
      headers.map(([header]) => header),
      needs,
    );
    for (const { id, text } of listSenders("http://collector.example:4318", headers)) {
      assert.ok(text.includes("http://collector.example:4318"), id);
      for (const header of needs) assert.ok(text.includes(header), `${id} names ${header}`);
    }
  });
}
