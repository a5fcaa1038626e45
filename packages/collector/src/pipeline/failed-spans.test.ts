// Failed spans: sampling and translation agree about which spans and log records are errors: a trace is not dropped
// for want of an error that its run would have shown.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { spanOfSession } from "../logs/emit-records.ts";
import { isFailedRecord } from "../logs/failed-record.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import { type AttributeValue, NO_RESOURCE, NO_SCOPE } from "../otlp/span.ts";
import { isError } from "../sample/failed-item.ts";
import { CONTEXT, translateContent, buildSpan, START } from "../translate/testkit.ts";
import { createTranslator } from "../translate/translate.ts";

type Given = Readonly<Record<string, string | number | boolean>>;

const OK = 1;
const translate = createTranslator({ filterNonGenAi: false, project: "" });

const SPANS: readonly (readonly [failed: boolean, name: string, attributes: Given, status?: number])[] = [
  [false, "chat", {}],
  [true, "chat", { "error.type": "TimeoutError" }],
  [false, "chat", { "error.type": "TimeoutError" }, OK],
  [false, "chat", { "error.type": "" }],
  [true, "tool", { "gen_ai.tool.status": "error" }],
  [true, "tool", { "gen_ai.tool.status": "ERROR" }],
  [false, "tool", { "gen_ai.tool.status": "success" }],
  [true, "chat", { "langfuse.observation.level": "error" }],
  [false, "chat", { "langfuse.observation.level": "WARNING" }],
  [true, "function_tool", { "lk.function_tool.is_error": true }],
  [false, "function_tool", { "lk.function_tool.is_error": false }],
  [true, "claude_code.tool", { success: "false" }],
  [true, "claude_code.tool.execution", { success: false }],
  [false, "claude_code.tool", { success: "true" }],
  [false, "tool", { success: false }],
];

const CODEX = { "event.name": "codex.api_request", "conversation.id": "c" };
const CHUNK = { "event.name": "codex.sse_event", "conversation.id": "c" };
const CLAUDE = { "session.id": "s" };
const DETAILS = "gen_ai.client.inference.operation.details";

const EVENTS: readonly (readonly [error: string, name: string, attributes: Given])[] = [
  ["", "claude_code.api_request", CLAUDE],
  ["overloaded", "claude_code.api_error", { ...CLAUDE, error: "overloaded" }],
  ["error", "claude_code.tool_result", { ...CLAUDE, success: "false" }],
  ["TimeoutError", "claude_code.api_request", { ...CLAUDE, "error.type": "TimeoutError" }],
  ["", "codex.sse_event", { ...CHUNK, "event.kind": "response.completed" }],
  ["quota", "codex.sse_event", { ...CHUNK, "event.kind": "response.failed", "error.message": "quota" }],
  ["response.incomplete", "codex.sse_event", { ...CHUNK, "event.kind": "response.incomplete" }],
  ["response.failed", "codex.websocket_event", { ...CHUNK, "event.kind": "response.failed" }],
  ["", "codex.api_request", { ...CODEX, "http.response.status_code": 200 }],
  ["HTTP status 500", "codex.api_request", { ...CODEX, "http.response.status_code": 500 }],
  ["HTTP status 429", "codex.api_request", { ...CODEX, "http.response.status_code": "429" }],
  ["refused", "codex.api_request", { ...CODEX, "error.message": "refused" }],
];

function buildRecord(name: string, attributes: Given): LogRecord {
  const values: readonly AttributeValue[] = Object.values(attributes);
  return {
    traceId: "",
    spanId: "",
    name,
    time: START,
    severity: 9,
    severityText: "",
    body: null,
    attributes: { keys: Object.keys(attributes), values },
    droppedAttributes: 0,
    resource: NO_RESOURCE,
    scope: NO_SCOPE,
  };
}

describe("sampling knows the failures that a run shows", () => {
  for (const [failed, name, attributes, status] of SPANS)
    test(`of a span ${name} with ${JSON.stringify(attributes)}${status === OK ? " and the status ok" : ""}`, () => {
      const given = { name, attributes, ...(status === undefined ? {} : { status: [status, ""] as const }) };
      assert.equal(translateContent(given).error !== "", failed);
      assert.equal(isError(buildSpan(given), isFailedRecord), failed);
    });

  for (const [error, name, attributes] of EVENTS)
    test(`of an event ${name} with ${JSON.stringify(attributes)}`, () => {
      const record = buildRecord(name, attributes);
      assert.equal(translate(spanOfSession(record, CONTEXT.tenant.id), CONTEXT).content?.error, error);
      assert.equal(isError(record, isFailedRecord), error !== "");
    });

  test("of the details of a model call", () => {
    assert.ok(isError(buildRecord(DETAILS, { "error.type": "TimeoutError" }), isFailedRecord));
    assert.ok(!isError(buildRecord(DETAILS, {}), isFailedRecord));
  });
});
