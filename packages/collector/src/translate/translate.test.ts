// Parts that no convention changes: outcome, events, links, resource, scope, times, project, filter, leftovers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { segmentTime, uuidOfSpan, uuidOfTrace } from "../assemble/dotted-order.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { NO_TIME } from "../otlp/span.ts";
import { translateContent, CONTEXT, parseExtra, parsed, buildSpan, START, table, translated } from "./testkit.ts";
import { rfc3339 } from "../shared/rfc3339.ts";
import { createTranslator } from "./translate.ts";

const EXCEPTION = {
  name: "exception",
  attributes: { "exception.type": "TimeoutError", "exception.message": "too slow", "exception.stacktrace": "at x" },
};
const KEPT_EXCEPTION = { name: "exception", time: "2025-11-21T09:00:00.000000000Z", attributes: EXCEPTION.attributes };

describe("content in attributes and in events", () => {
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Say \\"hi\\""}]}]',
    "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"Hi"}]}]',
  };
  const messageEvent = (name: string, content: string): { name: string; attributes: Record<string, string> } => ({
    name,
    attributes: { "gen_ai.system": "openai", content },
  });
  table([
    {
      name: "equal texts are there once",
      span: {
        attributes,
        events: [messageEvent("gen_ai.user.message", 'Say "hi"'), messageEvent("gen_ai.choice", "Hi")],
      },
      run: { events: null },
    },
    {
      name: "another text stays an event",
      span: {
        attributes,
        events: [messageEvent("gen_ai.user.message", "Say goodbye"), messageEvent("gen_ai.choice", "Goodbye")],
      },
      run: {
        inputs: { messages: [{ role: "user", content: 'Say "hi"' }] },
        events: [
          {
            name: "gen_ai.user.message",
            time: "2025-11-21T09:00:00.000000000Z",
            attributes: { "gen_ai.system": "openai", content: "Say goodbye" },
          },
          {
            name: "gen_ai.choice",
            time: "2025-11-21T09:00:00.000000001Z",
            attributes: { "gen_ai.system": "openai", content: "Goodbye" },
          },
        ],
      },
    },
    {
      name: "details that no field took stay an event",
      span: {
        attributes,
        events: [
          {
            name: "gen_ai.client.inference.operation.details",
            attributes: { "gen_ai.system_instructions": '[{"type":"text","content":"Be kind."}]' },
          },
        ],
      },
      run: {
        events: [
          {
            name: "gen_ai.client.inference.operation.details",
            time: "2025-11-21T09:00:00.000000000Z",
            attributes: { "gen_ai.system_instructions": '[{"type":"text","content":"Be kind."}]' },
          },
        ],
      },
    },
  ]);
});

describe("outcome", () => {
  table([
    { name: "a span without status is a success", span: {}, run: { error: "" } },
    {
      name: "status error without an exception is an error with its message",
      span: { status: [2, "boom"] },
      run: { error: "boom" },
    },
    { name: "status error without any text still is an error", span: { status: [2, ""] }, run: { error: "error" } },
    {
      name: "an exception gives type, message and stack, and stays an event",
      span: { status: [2, "boom"], events: [EXCEPTION] },
      run: { error: "TimeoutError: too slow\n\nStacktrace:\nat x", events: [KEPT_EXCEPTION] },
    },
    {
      name: "an exception alone makes an error",
      span: { events: [EXCEPTION] },
      run: { error: "TimeoutError: too slow\n\nStacktrace:\nat x" },
    },
    {
      name: "a span that its author marked as ok stays a success",
      span: { status: [1, ""], events: [EXCEPTION] },
      run: { error: "", events: [KEPT_EXCEPTION] },
    },
    {
      name: "of several exceptions the last that did not escape counts, in any order of attributes",
      span: {
        events: [
          { name: "exception", attributes: { "exception.message": "first" } },
          { name: "exception", attributes: { "exception.stacktrace": "at y", "exception.message": "second" } },
          { name: "exception", attributes: { "exception.escaped": true, "exception.message": "third" } },
        ],
      },
      run: { error: "second\n\nStacktrace:\nat y" },
    },
    {
      name: "error.type alone makes an error",
      span: { attributes: { "error.type": "429" } },
      run: { error: "429", metadata: { "error.type": "429" } },
    },
    {
      name: "an exception event without any attribute costs nothing",
      span: { events: [{ name: "exception" }] },
      run: { error: "error" },
    },
  ]);
});

describe("resource, scope and events of a span", () => {
  table([
    {
      name: "events that no convention knows are kept with time and attributes",
      span: { events: [{ name: "cache miss", at: 5, attributes: { key: "k", n: 2n ** 60n } }] },
      run: {
        events: [
          {
            name: "cache miss",
            time: "2025-11-21T09:00:00.000000005Z",
            attributes: { key: "k", n: 2 ** 60 },
          },
        ],
      },
    },
    {
      name: "resource, scope, kind, parent and links are in the metadata",
      span: {
        parent: "d2d12a2700a9bd4d",
        kind: 3,
        scope: "my-scope",
        resource: { "service.name": "shop", "host.cores": 4 },
        links: [
          {
            traceId: "ff".repeat(16),
            spanId: "ee".repeat(8),
            traceState: "a=b",
            flags: 1,
            attributes: { keys: ["why"], values: ["batch"] },
            droppedAttributes: 0,
          },
        ],
      },
      run: {
        metadata: {
          OTEL_TRACE_ID: "5b8efff798038103d269b633813fc60c",
          OTEL_SPAN_ID: "eee19b7ec3c1b174",
          "service.name": "shop",
          "host.cores": 4,
          otel: {
            parent_span_id: "d2d12a2700a9bd4d",
            kind: "client",
            scope: { name: "my-scope", version: "1.0" },
            links: [
              { trace_id: "ff".repeat(16), span_id: "ee".repeat(8), trace_state: "a=b", attributes: { why: "batch" } },
            ],
          },
        },
      },
    },
    {
      name: "attributes that no rule used are kept as plain JSON, without those that were used",
      span: {
        attributes: {
          "http.method": "GET",
          list: [1, { keys: ["a"], values: [true] }],
          bytes: new Uint8Array([104, 105]),
          "gen_ai.request.model": "m",
          runtime: "mine",
          usage_metadata: "mine",
        },
      },
      run: {
        metadata: {
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: {
              "http.method": "GET",
              list: [1, { a: true }],
              bytes: "aGk=",
              runtime: "mine",
              usage_metadata: "mine",
            },
          },
          usage_metadata: undefined as unknown as null,
          ls_model_name: "m",
        },
      },
    },
    {
      name: "a known attribute that its run type does not use is kept too, but not a second time under an alias",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.usage.input_tokens": 3,
          "gen_ai.usage.prompt_tokens": 3,
          "llm.token_count.prompt": 4,
          "gen_ai.retrieval.documents": '[{"id":"d1"}]',
          "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"Hi"}]}]',
          "ai.embeddings": ["[1,2]"],
          "openinference.span.kind": "AGENT",
          "langsmith.span.dotted_order": "20251121T090000000000Zx",
        },
      },
      run: {
        metadata: {
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: {
              "llm.token_count.prompt": 4,
              "gen_ai.retrieval.documents": '[{"id":"d1"}]',
              "ai.embeddings": ["[1,2]"],
              "openinference.span.kind": "AGENT",
            },
          },
        },
      },
    },
    {
      name: "metadata of a user replaces nothing that the backend reads",
      span: {
        resource: { OTEL_TRACE_ID: "forged", ls_provider: "forged", team: "resource" },
        attributes: {
          "gen_ai.provider.name": "openai",
          metadata: '{"OTEL_SPAN_ID":"forged","ls_provider":"forged","otel":1,"team":"core"}',
          "langsmith.metadata.OTEL_TRACE_ID": "forged",
        },
      },
      run: {
        metadata: {
          OTEL_TRACE_ID: "5b8efff798038103d269b633813fc60c",
          OTEL_SPAN_ID: "eee19b7ec3c1b174",
          ls_provider: "openai",
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            resource: { OTEL_TRACE_ID: "forged", ls_provider: "forged", team: "resource" },
            attributes: {
              "langsmith.metadata.OTEL_TRACE_ID": "forged",
              "metadata.OTEL_SPAN_ID": "forged",
              "metadata.ls_provider": "forged",
              "metadata.otel": 1,
            },
          },
          team: "core",
        },
      },
    },
  ]);
});

describe("times", () => {
  const times = (span: Parameters<typeof translateContent>[0]): readonly string[] => {
    const content = translateContent(span);
    return [content.startTime, content.endTime];
  };
  const end = { sec: START.sec + 1, nano: 0 };

  test("every second of the calendar reads as Date would write it", () => {
    for (let sec = 0; sec < 9_223_372_036; sec += 7_654_321) {
      const iso = new Date(sec * 1000).toISOString();
      assert.equal(rfc3339({ sec, nano: 0 }), iso.replace(".000Z", ".000000000Z"));
      assert.equal(segmentTime({ sec, nano: 0 }), iso.replaceAll(/[-:]/g, "").replace(".000Z", "000000Z"));
    }
  });
  test("nanoseconds are exact, also beyond 2^53", () => {
    assert.deepEqual(times({ start: { sec: 9_223_372_036, nano: 854_775_807 } }), [
      "2262-04-11T23:47:16.854775807Z",
      "2025-11-21T09:00:01.123456789Z",
    ]);
  });
  test("a missing time comes from the other one", () => {
    assert.deepEqual(times({ start: NO_TIME, end }), [
      "2025-11-21T09:00:01.000000000Z",
      "2025-11-21T09:00:01.000000000Z",
    ]);
    assert.deepEqual(times({ end: NO_TIME })[1], "2025-11-21T09:00:00.123456789Z");
  });
  test("without both, the time of the first event or of the arrival replaces them, and the run is marked", () => {
    assert.equal(times({ start: NO_TIME, end: NO_TIME, events: [EXCEPTION] })[0], "2025-11-21T09:00:00.000000000Z");
    const content = translateContent({ start: NO_TIME, end: NO_TIME });
    assert.equal(content.startTime, "2025-11-21T09:01:40.000000000Z");
    assert.deepEqual(parseExtra(content).metadata["otel"], {
      kind: "internal",
      scope: { version: "1.0" },
      time: "arrival",
    });
  });
  test("an end before its start is kept as it was sent", () => {
    assert.deepEqual(times({ end: { sec: 1, nano: 0 } })[1], "1970-01-01T00:00:01.000000000Z");
  });
});

describe("project", () => {
  const onSpan = { "langsmith.trace.session_name": "span" };
  const onResource = { "langsmith.project": "resource" };
  const project = (attributes: object, resource: object, header: string, environment: string): string | undefined =>
    translated(
      { attributes: attributes as Record<string, string>, resource: resource as Record<string, string> },
      { project: environment },
      { project: header },
    ).content?.sessionName;

  test("the header wins over the span, the resource, the environment and the default, in this order", () => {
    assert.equal(project(onSpan, onResource, "header", "env"), "header");
    assert.equal(project(onSpan, onResource, "", "env"), "span");
    assert.equal(project({}, onResource, "", "env"), "resource");
    assert.equal(project({}, { "tracing.project": "other" }, "", "env"), "other");
    assert.equal(project({}, {}, "", "env"), "env");
    assert.equal(project({}, {}, "", ""), "default");
  });
});

describe("the filter for spans that have nothing to do with generative AI", () => {
  const KEPT = {
    "an attribute": { name: "POST", attributes: { "gen_ai.request.model": "m" } },
    "an attribute of OpenInference": { name: "x", attributes: { "openinference.span.kind": "CHAIN" } },
    "an attribute of OpenLLMetry": { name: "x", attributes: { "traceloop.span.kind": "workflow" } },
    "an attribute of the AI SDK": { name: "x", attributes: { "ai.operationId": "ai.generateText" } },
    "its name": { name: "llm.call" },
    "its scope": { name: "agent run", scope: "pydantic-ai" },
    "a scope below a known one": { name: "x", scope: "openinference.instrumentation.openai" },
    "an event": { name: "x", events: [{ name: "gen_ai.user.message" }] },
  };
  for (const [why, span] of Object.entries(KEPT))
    test(`a span is kept for ${why}`, () => {
      assert.notEqual(translated(span, { filterNonGenAi: true }).content, null);
    });
  for (const span of [
    {
      name: "GET /",
      scope: "opentelemetry.instrumentation.http",
      attributes: { "http.method": "GET", "logfire.msg": "GET /" },
    },
    { name: "llmao", scope: "airflow", attributes: { aiming: "x", llm: "y" } },
  ])
    test(`"${span.name}" keeps only its place`, () => {
      const run = translated(span, { filterNonGenAi: true });
      assert.equal(run.content, null);
      assert.equal(run.spanId, "eee19b7ec3c1b174");
      assert.notEqual(translated(span).content, null);
    });
});

test("the same span yields the same bytes, also after other spans in the same translator", () => {
  const translate = createTranslator({ filterNonGenAi: false, project: "" });
  const one = buildSpan({
    name: "chat",
    attributes: {
      "gen_ai.prompt.0.content": "a",
      "gen_ai.operation.name": "chat",
      other: 1,
      "gen_ai.system": "openai",
    },
    resource: { "service.name": "shop" },
  });
  const other = buildSpan({
    attributes: { "gen_ai.prompt.0.content": "b", "gen_ai.completion.0.content": "c", "user.id": "u" },
  });
  const first = JSON.stringify(translate(one, CONTEXT));
  translate(other, CONTEXT);
  assert.equal(JSON.stringify(translate(one, CONTEXT)), first);
  assert.equal(first.includes('"u"'), false);
});

test("distinguishes similar scopes, also when each span brings its own", () => {
  for (const scope of ["a", "b", "b", "", "a"]) {
    const { metadata } = parseExtra(translateContent({ scope }));
    assert.deepEqual((metadata["otel"] as { scope: unknown }).scope, {
      ...(scope === "" ? {} : { name: scope }),
      version: "1.0",
    });
  }
});

test("distinguishes similar resources, also when each span brings its own", () => {
  const names = ["a", "b", "a", "c", "d", "e", "f", "a"];
  for (const name of names) {
    const { metadata } = parseExtra(translateContent({ resource: { "service.name": name, list: [name] } }));
    assert.equal(metadata["service.name"], name);
    assert.deepEqual(metadata["list"], [name]);
    assert.equal(parseExtra(translateContent({ resource: { [name]: "x" } })).metadata[name], "x");
  }
});

test("of an attribute that repeats the last value counts, in slots, families and maps", () => {
  const map = { keys: ["k", "k"], values: [1, 2] };
  const keys = [
    "gen_ai.prompt.0.content",
    "gen_ai.system",
    "gen_ai.prompt.0.content",
    "gen_ai.system",
    "gen_ai.tool.name",
    "gen_ai.tool.call.result",
  ];
  const span = { ...buildSpan({}), attributes: { keys, values: ["old", "old", "new", "openai", "t", map] } };
  const { content } = createTranslator({ filterNonGenAi: false, project: "" })(span, CONTEXT);
  assert.ok(content !== null);
  assert.deepEqual(parsed(content.inputs), { messages: [{ role: "user", content: "new" }] });
  assert.deepEqual(parsed(content.outputs), { k: 2 });
  assert.equal(parseExtra(content).metadata["ls_provider"], "openai");
});

test("ids are hex with zeros in front, never read as base64", () => {
  assert.equal(uuidOfTrace("5b8efff798038103d269b633813fc60c"), "5b8efff7-9803-8103-d269-b633813fc60c");
  assert.equal(uuidOfSpan("eee19b7ec3c1b174"), "00000000-0000-0000-eee1-9b7ec3c1b174");
  assert.equal(parsed(translateContent({}).extra) === null, false);
});

test("with `explain` the metadata names the destination of every attribute", () => {
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    mine: 1,
    "langsmith.is_root": true,
  };
  const { metadata } = parseExtra(translateContent({ attributes }, { explain: true }));
  assert.deepEqual((metadata["otel"] as JsonObject)["fields"], {
    "gen_ai.operation.name": ["run_type", "extra.metadata"],
    "gen_ai.request.model": ["extra.metadata.ls_model_name", "extra.invocation_params"],
    mine: ["extra.metadata.otel.attributes"],
    "langsmith.is_root": ["left out: transport noise"],
  });
});
