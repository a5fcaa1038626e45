// Log records: events about generative AI join the spans that they name, in any order, in both wire formats and all
// compressions, for their own tenant only; a coding agent without spans gets runs; everything else is counted.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { startBackend, type AcceptedRun, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector, until } from "../fakes/collector.ts";
import { protobufRequest, buildSpan, T0, type TestSpan, type TestValue } from "../fakes/otlp.ts";
import { jsonLogs, protobufLogs, buildRecord, type TestRecord } from "../fakes/otlp-logs.ts";
import { countPending } from "@holdpoint/collector/shared/span-accounting.ts";

let backend: FakeBackend;
let collector: TestCollector;
before(async () => {
  backend = await startBackend();
  collector = await startCollector(backend.url);
});
after(async () => {
  await collector.stop();
  await backend.close();
  assert.deepEqual(backend.violations, []);
});

let traces = 500;

/** A model call whose instrumentation writes its content as log records. */
function call(): TestSpan {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", "gen_ai.system": "openai" };
  return buildSpan(traces++, 0, undefined, { name: "chat gpt-5", attributes });
}

const USER = { role: "user", content: "What now?" };
const ANSWER = { role: "assistant", content: "This." };

/** As `opentelemetry-instrumentation-openai-v2` writes them. */
function buildMessageRecords(span: TestSpan): readonly TestRecord[] {
  return [
    buildRecord(span, "gen_ai.user.message", { time: T0, body: { content: USER.content } }),
    buildRecord(span, "gen_ai.choice", {
      time: T0 + 1n,
      body: { index: 0n, finish_reason: "stop", message: ANSWER },
      attributes: { "gen_ai.system": "openai" },
    }),
  ];
}

function sendLogs(
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
  to = collector,
): Promise<Response> {
  return fetch(`${to.url}/v1/logs`, {
    method: "POST",
    body: body as Uint8Array<ArrayBuffer> | string,
    headers: {
      "x-api-key": "key-1",
      "content-type": typeof body === "string" ? "application/json" : "application/x-protobuf",
      ...headers,
    },
  });
}

/** The last upload of the span's run. */
function findRun(span: TestSpan, from = backend): AcceptedRun | undefined {
  return from.runs.findLast(({ text }) => text.includes(`"OTEL_SPAN_ID":"${span.spanId}"`));
}

const hasConversation = (run: AcceptedRun | undefined): boolean =>
  run !== undefined && "messages" in run.inputs && run.outputs !== null;

function assertConversation(run: AcceptedRun | undefined): void {
  assert.deepEqual(run?.inputs, { messages: [USER] });
  assert.match(JSON.stringify(run.outputs), /"content":"This\."/);
  assert.equal(run.main["run_type"], "llm");
  assert.match(run.text, /"ls_model_name":"gpt-5"/);
}

function assertAnswersOnce(run: AcceptedRun | undefined): void {
  assert.equal(JSON.stringify(run?.outputs).split('"finish_reason"').length - 1, 1);
}

describe("records join their span", () => {
  const forms: readonly (readonly [
    string,
    (records: readonly TestRecord[]) => readonly [Uint8Array | string, string],
  ])[] = [
    ["JSON", (records) => [jsonLogs(records), "identity"]],
    ["JSON, gzip", (records) => [gzipSync(jsonLogs(records)), "gzip"]],
    ["protobuf", (records) => [protobufLogs(records), "identity"]],
    ["protobuf, gzip", (records) => [gzipSync(protobufLogs(records)), "gzip"]],
    ["protobuf, deflate", (records) => [deflateSync(protobufLogs(records)), "deflate"]],
    ["protobuf, zstd", (records) => [zstdCompressSync(protobufLogs(records)), "zstd"]],
  ];
  for (const [name, buildBody] of forms) {
    const type = name.startsWith("JSON") ? "application/json" : "application/x-protobuf";

    test(`before the span: ${name}`, async () => {
      const span = call();
      const [body, encoding] = buildBody(buildMessageRecords(span));
      const replied = await sendLogs(body, { "content-type": type, "content-encoding": encoding });
      assert.deepEqual([replied.status, replied.headers.get("content-type")], [200, type]);
      await collector.send(protobufRequest([span]));
      await backend.when(() => findRun(span) !== undefined);
      assertConversation(findRun(span));
      assert.equal(findRun(span)?.event, "post");
    });

    test(`after the span: ${name}`, async () => {
      const span = call();
      await collector.send(protobufRequest([span]));
      await backend.when(() => findRun(span) !== undefined);
      const [body, encoding] = buildBody(buildMessageRecords(span));
      await sendLogs(body, { "content-type": type, "content-encoding": encoding });
      await backend.when(() => hasConversation(findRun(span)));
      assertConversation(findRun(span));
      assert.equal(findRun(span)?.event, "patch");
      assert.equal(
        findRun(span)?.main["dotted_order"],
        backend.runs.find(({ id }) => id === findRun(span)?.id)?.main["dotted_order"],
      );
    });
  }

  for (const order of ["before", "after"])
    test(`a request that its sender repeats ${order} the span joins once`, async () => {
      const span = call();
      const said = buildMessageRecords(span)[0] ?? assert.fail("a question");
      const messagesRequest = protobufLogs([said, ...buildMessageRecords(span)]); // one question twice in a clock tick, and its answer
      const { accounting } = collector.collector;
      const { joined } = accounting.records;
      const repeat = async (): Promise<void> => {
        for (let time = 0; time < 3; time++) await sendLogs(messagesRequest);
      };
      if (order === "before") await repeat();
      await collector.send(protobufRequest([span]));
      await backend.when(() => findRun(span) !== undefined);
      if (order === "after") await repeat();
      await backend.when(() => hasConversation(findRun(span)));
      await until(() => countPending(accounting) === 0);
      assert.deepEqual(findRun(span)?.inputs, { messages: [USER, USER] });
      assertAnswersOnce(findRun(span));
      assert.equal(accounting.records.joined - joined, order === "before" ? 9 : 8);
    });

  for (const order of ["before", "after"])
    test(`the severity, and what the span lacks of a record's scope and resource, stay: ${order} the span`, async () => {
      const span = call();
      const evaluation = buildRecord(span, "gen_ai.evaluation.result", { severity: 5, attributes: { score: 1n } });
      const resource = { "service.name": "shop", "k8s.pod": "pod-7" };
      const logs = protobufLogs([evaluation], { resource, scope: { name: "evaluator" } });
      if (order === "before") await sendLogs(logs);
      await collector.send(
        protobufRequest([span], { resource: { "service.name": "shop" }, scope: { name: "openai" } }),
      );
      await backend.when(() => findRun(span) !== undefined);
      if (order === "after") await sendLogs(logs);
      const readEventAttributes = (): unknown =>
        (findRun(span)?.main["events"] as readonly { readonly attributes: unknown }[] | undefined)?.[0]?.attributes;
      await backend.when(() => readEventAttributes() !== undefined);
      assert.deepEqual(readEventAttributes(), {
        score: 1,
        severity: 5,
        "otel.scope.name": "evaluator",
        "otel.resource": { "k8s.pod": "pod-7" },
      });
    });

  for (const order of ["before", "after"]) {
    test(`a record of an exception is the error of its span: ${order} the span`, async () => {
      const span = call();
      const attributes = { "exception.type": "APIError", "exception.message": "no quota" };
      const logs = protobufLogs([buildRecord(span, "exception", { severity: 17, attributes })]);
      if (order === "before") await sendLogs(logs);
      await collector.send(protobufRequest([span]));
      await backend.when(() => findRun(span) !== undefined);
      if (order === "after") await sendLogs(logs);
      await backend.when(() => findRun(span)?.text.includes("no quota") === true);
      assert.equal(findRun(span)?.main["error"], "APIError: no quota");
    });

    test(`a record with input and output is the content of its span: ${order} the span`, async () => {
      const span = call();
      const body = {
        input: { messages: [USER] },
        output: { messages: [{ role: "assistant", content: { message: "This." } }] },
      };
      const logs = protobufLogs([buildRecord(span, "strands.telemetry.tracer", { body })]);
      if (order === "before") await sendLogs(logs);
      await collector.send(protobufRequest([span]));
      await backend.when(() => findRun(span) !== undefined);
      if (order === "after") await sendLogs(logs);
      await backend.when(() => hasConversation(findRun(span)));
      assertConversation(findRun(span));
      assert.deepEqual(findRun(span)?.outputs, { messages: [ANSWER] });
    });
  }

  test("the state of a graph in such a record is opened", async () => {
    const span = call();
    const state = (name: string, message: object): TestValue => ({
      messages: [{ role: "user", content: JSON.stringify({ [name]: { messages: [message] } }) }],
    });
    const body = { input: state("inputs", USER), output: state("outputs", ANSWER) };
    await sendLogs(protobufLogs([buildRecord(span, "opentelemetry.instrumentation.langchain", { body })]));
    await collector.send(protobufRequest([span]));
    await backend.when(() => hasConversation(findRun(span)));
    assert.deepEqual(findRun(span)?.inputs, { messages: [USER] });
    assert.deepEqual(findRun(span)?.outputs, { messages: [ANSWER] });
  });

  test("one before, one after the span", async () => {
    const span = call();
    const [first, second] = buildMessageRecords(span);
    assert.ok(first !== undefined && second !== undefined);
    await sendLogs(protobufLogs([first]));
    await collector.send(protobufRequest([span]));
    await backend.when(() => findRun(span) !== undefined);
    await sendLogs(protobufLogs([second]));
    await backend.when(() => hasConversation(findRun(span)));
    assertConversation(findRun(span));
  });

  test("a span that its sender repeats keeps the records that joined it", async () => {
    const span = call();
    await collector.send(protobufRequest([span]));
    await sendLogs(protobufLogs(buildMessageRecords(span)));
    await backend.when(() => hasConversation(findRun(span)));
    const { duplicates } = collector.collector.accounting;
    await collector.send(protobufRequest([span]));
    await until(() => collector.collector.accounting.duplicates === duplicates + 1);
    assertConversation(findRun(span));
  });

  test("the details of an operation: messages, usage and parameters", async () => {
    const span = call();
    const details = buildRecord(span, "gen_ai.client.inference.operation.details", {
      attributes: {
        "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: "Hi" }] }]),
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: "Ho" }] }]),
        "gen_ai.usage.input_tokens": 7n,
        "gen_ai.usage.output_tokens": 3n,
        "gen_ai.request.temperature": 0.5,
      },
    });
    await sendLogs(protobufLogs([details]));
    await collector.send(protobufRequest([span]));
    await backend.when(() => findRun(span) !== undefined);
    const text = findRun(span)?.text ?? "";
    for (const part of [/"Hi"/, /"Ho"/, /"input_tokens":7,"output_tokens":3/, /"temperature":0.5/])
      assert.match(text, part);
  });

  test("an evaluation is an event of its run", async () => {
    const span = call();
    await collector.send(protobufRequest([span]));
    const attributes = { "gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": 0.9 };
    await sendLogs(jsonLogs([buildRecord(span, "gen_ai.evaluation.result", { attributes })]));
    await backend.when(() => findRun(span)?.text.includes("Relevance") === true);
    assert.match(findRun(span)?.text ?? "", /"name":"gen_ai.evaluation.result"/);
  });

  test("records of another tenant never join", async () => {
    const span = call();
    await sendLogs(protobufLogs(buildMessageRecords(span)), { "x-api-key": "key-2" });
    await collector.send(protobufRequest([span]));
    await backend.when(() => findRun(span) !== undefined);
    await sendLogs(protobufLogs(buildMessageRecords(span)), { "x-tenant-id": "other" });
    const next = call();
    await collector.send(protobufRequest([next]));
    await backend.when(() => findRun(next) !== undefined);
    assert.deepEqual([findRun(span)?.inputs, findRun(span)?.outputs], [{}, null]);
  });
});

/** Kind of span × what it has of its own content × which comes first. */
describe("the content of a span comes as a record", () => {
  const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    model: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5" },
    tool: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search" },
    agent: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper" },
  };
  const own: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    nothing: {},
    inputs: { "input.value": "own question" },
    outputs: { "output.value": "own answer" },
  };
  for (const [kind, attributes] of Object.entries(kinds))
    for (const [has, content] of Object.entries(own))
      for (const order of ["before", "after"])
        test(`of a ${kind} span with ${has}, ${order} the span`, async () => {
          const span = buildSpan(traces++, 0, undefined, { name: kind, attributes: { ...attributes, ...content } });
          const body = {
            input: { messages: [{ role: "user", content: "asked in a record" }] },
            output: { messages: [{ role: "assistant", content: "said in a record" }] },
          };
          const record = protobufLogs([buildRecord(span, "some.scope", { body })]);
          const key = { "x-api-key": `no-record-before-${kind}-${has}-${order}` };
          if (order === "before") await sendLogs(record, key);
          await collector.send(protobufRequest([span]), key);
          await backend.when(() => findRun(span) !== undefined);
          if (order === "after") await sendLogs(record, key);
          await backend.when(() => findRun(span)?.text.includes("said in a record") === true);
          const run = findRun(span);
          assert.match(run?.text ?? "", /asked in a record/);
          for (const text of Object.values(content)) assert.ok(run?.text.includes(text), `${text} is lost`);
          const parent = backend.runs.find(({ main }) => main["parent_run_id"] === run?.id);
          assert.equal(parent, undefined, "no child run");
        });
});

describe("records without a span", () => {
  const AGENT = { resource: { "service.name": "claude-code" } };
  const event = (name: string, at: bigint, attributes: TestRecord["attributes"]): TestRecord => ({
    body: `claude_code.${name}`,
    time: T0 + at * 1_000_000n,
    attributes: { "event.name": name, "session.id": "session-7", "prompt.id": "prompt-1", ...attributes },
  });
  const SESSION = [
    event("user_prompt", 0n, { prompt: "Fix the test", prompt_length: 12n }),
    event("api_request", 3000n, {
      model: "claude-opus-5",
      input_tokens: 10n,
      output_tokens: 20n,
      cache_read_tokens: 100n,
      cache_creation_tokens: 0n,
      cost_usd: 0.25,
      duration_ms: 2000n,
    }),
    event("tool_result", 4000n, {
      tool_name: "Bash",
      tool_input: '{"command":"ls"}',
      success: "false",
      error: "no such file",
    }),
  ];

  test("a session of a coding agent: prompt, model call and tool in one trace", async () => {
    await sendLogs(protobufLogs(SESSION, AGENT));
    const found = (): readonly AcceptedRun[] => backend.runs.filter(({ text }) => text.includes("session-7"));
    await backend.when(() => found().length === 3);
    const [prompt, model, tool] = found();
    assert.ok(prompt !== undefined && model !== undefined && tool !== undefined);
    assert.deepEqual(
      [prompt, model, tool].map(({ main }) => main["run_type"]),
      ["chain", "llm", "tool"],
    );
    assert.deepEqual(prompt.inputs, { input: "Fix the test" });
    assert.equal(new Set(found().map(({ main }) => main["trace_id"])).size, 1);
    assert.deepEqual(
      [model, tool].map(({ main }) => main["parent_run_id"]),
      [prompt.id, prompt.id],
    );
    assert.match(model.text, /"total_cost":0.25,"input_tokens":110,"output_tokens":20/);
    assert.match(model.text, /"ls_provider":"anthropic"/);
    assert.deepEqual(
      [model.main["start_time"], model.main["end_time"]].map((time) => String(time).slice(17, 21)),
      ["01.1", "03.1"],
    );
    assert.deepEqual([tool.main["name"], tool.inputs, tool.main["error"]], ["Bash", { command: "ls" }, "no such file"]);
    for (const run of found()) assert.match(run.text, /"thread_id":"session-7"/);
  });

  test("a repeated event is a duplicate; the same session of another tenant is another trace", async () => {
    const { duplicates, records } = collector.collector.accounting;
    const { joined } = records;
    const before = backend.runs.length;
    await sendLogs(protobufLogs(SESSION, AGENT));
    await until(() => records.joined === joined + 3);
    assert.equal(collector.collector.accounting.duplicates, duplicates);
    await sendLogs(protobufLogs(SESSION, AGENT), { "x-api-key": "key-2" });
    await backend.when(() => backend.runs.length >= before + 3);
    const of = (key: string): unknown =>
      backend.runs.find((run) => run.key === key && run.text.includes("session-7"))?.main["trace_id"];
    assert.notEqual(of("key-1"), of("key-2"));
  });

  test("Codex and Gemini CLI: tokens, tools and prompts under the names of the conventions", async () => {
    await sendLogs(
      jsonLogs([
        {
          attributes: {
            "event.name": "codex.sse_event",
            "event.kind": "response.completed",
            "conversation.id": "codex-1",
            model: "gpt-5.1",
            input_token_count: 100n,
            cached_token_count: 40n,
            output_token_count: 10n,
          },
        },
        {
          attributes: {
            "event.name": "codex.sse_event",
            "event.kind": "response.output_text.delta",
            "conversation.id": "codex-1",
          },
        },
        {
          attributes: {
            "event.name": "codex.tool_result",
            "conversation.id": "codex-1",
            tool_name: "shell",
            arguments: '{"command":"ls"}',
            output: "a.txt",
            success: "true",
          },
        },
        {
          attributes: {
            "event.name": "gemini_cli.tool_call",
            "session.id": "gemini-1",
            function_name: "read_file",
            function_args: '{"path":"a"}',
            success: true,
          },
        },
      ]),
    );
    const found = (id: string): readonly AcceptedRun[] => backend.runs.filter(({ text }) => text.includes(id));
    await backend.when(() => found("codex-1").length === 2 && found("gemini-1").length === 1);
    const [model, tool] = found("codex-1");
    assert.match(model?.text ?? "", /"input_tokens":100,"output_tokens":10,.*"cache_read":40/);
    assert.deepEqual([tool?.main["name"], tool?.main["run_type"], tool?.inputs], ["shell", "tool", { command: "ls" }]);
    assert.deepEqual([found("gemini-1")[0]?.main["name"], found("gemini-1")[0]?.inputs], ["read_file", { path: "a" }]);
  });

  test("the details of an operation without ids are a run; other records count as not stored", async () => {
    const { records } = collector.collector.accounting;
    const { notStored } = records;
    const details: TestRecord = {
      name: "gen_ai.client.inference.operation.details",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "lonely-model",
        "gen_ai.usage.input_tokens": 7n,
      },
    };
    await sendLogs(
      protobufLogs([
        { body: "listening on port 80", severity: 9 },
        { name: "gen_ai.choice", body: { message: ANSWER } },
        { ...buildRecord(call(), "http.request"), body: "GET /" },
        details,
      ]),
    );
    await backend.when(() => backend.runs.some(({ text }) => text.includes("lonely-model")));
    assert.equal(records.notStored, notStored + 3);
    assert.equal(backend.runs.find(({ text }) => text.includes("lonely-model"))?.main["run_type"], "llm");
  });
});

test("records whose span never arrives become a child of it after SPAN_TTL; the books are even", async () => {
  const own = await startBackend();
  const short = await startCollector(own.url, { SPAN_TTL: "1000" });
  try {
    const root = call();
    const lost = { ...call(), traceId: root.traceId };
    await short.send(protobufRequest([root]));
    await sendLogs(protobufLogs(buildMessageRecords(lost)), {}, short);
    await own.when(() => own.runs.some(({ text }) => text.includes("This.")));
    const run = own.runs.find(({ text }) => text.includes("This."));
    assert.deepEqual(run?.inputs, { messages: [USER] });
    assert.equal(run?.main["trace_id"], findRun(root, own)?.main["trace_id"]);
    assert.notEqual(run?.id, findRun(root, own)?.id);
  } finally {
    await short.stop();
    await own.close();
  }
  const { accounting } = short.collector;
  assert.deepEqual(own.violations, []);
  assert.deepEqual([accounting.received, accounting.records.received, accounting.records.joined], [1, 2, 1]);
  assert.deepEqual([accounting.delivered, countPending(accounting)], [2, 0]);
});

test("in memory mode the end of the collector delivers the records that still wait", async () => {
  const own = await startBackend();
  const stopped = await startCollector(own.url);
  await sendLogs(protobufLogs(buildMessageRecords(call())), {}, stopped);
  assert.equal(own.runs.length, 0);
  await stopped.stop();
  await own.close();
  assert.match(own.runs[0]?.text ?? "", /This\./);
  assert.equal(countPending(stopped.collector.accounting), 0);
});
