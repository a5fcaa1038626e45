// Test of the explanation of a translated span. It names attributes of the collector's own tables: that they are in
// there is compared, so that the explanation cannot go out of date unseen.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { SpanDetail } from "@holdpoint/api/traces/traces.ts";
import { describeTranslation } from "./translation.ts";

const RUN: SpanDetail = {
  id: "r",
  trace_id: "t",
  dotted_order: "",
  name: "chat",
  run_type: "llm",
  status: "success",
  start_us: 0,
  end_us: 1,
  session_name: "default",
  inputs: { messages: [] },
  outputs: {},
  error: "no",
  tags: ["a"],
  extra: {
    invocation_params: { temperature: 0 },
    metadata: {
      OTEL_TRACE_ID: "aa",
      OTEL_SPAN_ID: "bb",
      ls_model_name: "sample",
      ls_provider: "p",
      usage_metadata: { input_tokens: 1 },
      thread_id: "thread",
      user_id: "u",
      operation: "chat",
      agent_name: "n",
      finish_reasons: ["stop"],
      tenant: "acme",
      otel: { parent_span_id: "cc", attributes: { "my.own": 1 } },
    },
  },
} as SpanDetail;

test("lists present fields with their sources, and omits empty ones (translation.1)", () => {
  const { fromSpan, lines, kept, copied } = describeTranslation(RUN);
  assert.equal(fromSpan, true);
  assert.deepEqual(lines.find(({ field }) => field === "model")?.value, "sample");
  assert.equal(
    lines.some(({ field }) => field === "outputs"),
    false,
  );
  assert.deepEqual(kept, { "my.own": 1 });
  assert.deepEqual(copied, ["tenant"]);
});

test("a run that an SDK sent itself was not translated", () => {
  const { extra: _extra, ...plain } = RUN;
  assert.equal(describeTranslation(plain).fromSpan, false);
});

test("a run that records the destinations of its attributes has them listed", () => {
  const otel = { fields: { "gen_ai.request.model": ["extra.metadata.ls_model_name"], odd: "no list" } };
  const { destinations } = describeTranslation({ ...RUN, extra: { metadata: { otel } } });
  assert.deepEqual(destinations, [
    { attribute: "gen_ai.request.model", fields: ["extra.metadata.ls_model_name"] },
    { attribute: "odd", fields: [] },
  ]);
  assert.deepEqual(describeTranslation(RUN).destinations, []);
});

test("every attribute that the explanation names is in the collector's tables", () => {
  const folder = join(import.meta.dirname, "../../../../collector/src/translate");
  const tables = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
  const attributes = describeTranslation(RUN).lines.flatMap(({ sources }) => sources.flatMap((one) => one.split(", ")));
  for (const name of attributes.filter((one) => /^[\w.]+(\.N)?(\.\*)?$/.test(one) && one.includes("."))) {
    const prefix = name.replace(/\.?(N\.)?\*$/, ".").replace(/\.$/, "");
    assert.ok(tables.includes(`"${prefix}`), `no table names ${name}`);
  }
});
