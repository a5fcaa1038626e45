// gen.mjs - deterministic generator of realistic OTLP GenAI trace requests. Plain JavaScript, no dependencies.
//
// A trace has 20 spans: 1 workflow root, 3 agent steps (chain), 6 LLM calls, 6 tool calls, 4 further task (chain) spans.
// Spans leave in END order (children before parents, root last), as an OpenTelemetry SDK's batch processor sends them.
// LLM spans carry a prompt of 2-8 KB JSON (gen_ai.prompt, or in 30 % the indexed gen_ai.prompt.N.role/content form),
// a completion of 0.3-2 KB, the usage counts, model, temperature. Text is Zipf-distributed words, so that zstd/gzip
// find about what they find in English prose; a system prompt is shared between the calls of one trace.
//
// API (used by load.mjs, run.mjs and the microbenchmarks):
//   makeSpans(nTraces, seed)        -> array of plain span objects in end order
//   encodeProtobuf(spans)           -> Buffer, an ExportTraceServiceRequest
//   encodeJson(spans, 'hex'|'b64')  -> Buffer, the OTLP/JSON form (ids hex per the OTLP specification, or base64 = protojson)
//   makePool({traces, perRequest, format, ids, gzip, logs, seed}) -> [{buf, spans, offsets, path}]; with logs (protobuf only)
//                                   the content of about 70 % of the LLM spans is in a log record instead, in a request
//                                   to /v1/logs before that of the spans
//   setEpoch(item, epoch, format, ids) rewrites the 24-bit epoch inside every trace/span/parent id in place, so that a
//                                   pool can be replayed with fresh ids (not possible once gzipped).
// Ids: trace id = A5F1C3 <epoch:3> 000000000000 <index:4>; span id = A5F1C3 <epoch:3> <index:2>.
// CLI: node gen.mjs [traces] [perRequest] [protobuf|json] [outfile]   writes one body (or prints sizes).
import zlib from "node:zlib";
import fs from "node:fs";

export const EPOCH0 = 0x9b42e7;
const MARK = [0xa5, 0xf1, 0xc3];

function rng(seed) {
  // mulberry32
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const SYL = [
  "ta",
  "re",
  "in",
  "con",
  "ment",
  "al",
  "pro",
  "ver",
  "st",
  "ion",
  "e",
  "or",
  "lu",
  "mi",
  "ka",
  "so",
  "de",
  "per",
  "ble",
  "an",
  "che",
  "ing",
  "ous",
  "gra",
  "no",
];
function vocabulary(r, n) {
  const w = new Set([
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "is",
    "that",
    "for",
    "it",
    "with",
    "as",
    "on",
    "be",
    "at",
    "by",
    "this",
    "are",
    "or",
    "from",
  ]);
  while (w.size < n) {
    let s = "";
    const k = 1 + Math.floor(r() * 4);
    for (let i = 0; i < k; i++) s += SYL[Math.floor(r() * SYL.length)];
    w.add(s);
  }
  return [...w];
}
function textMaker(r) {
  const v = vocabulary(r, 4000);
  return (bytes) => {
    let s = "",
      sentence = 0;
    while (s.length < bytes) {
      const w = v[Math.min(v.length - 1, Math.floor(Math.pow(v.length, r())))]; // ~ Zipf
      if (sentence === 0) {
        s += w[0].toUpperCase() + w.slice(1);
        sentence = 5 + Math.floor(r() * 14);
      } else s += " " + w;
      if (--sentence === 0) {
        s += r() < 0.1 ? ".\n" : r() < 0.05 ? ' — "é 日本".' : ". ";
      }
    }
    return s;
  };
}

const str = (key, v) => ({ key, t: "s", v });
const int = (key, v) => ({ key, t: "i", v });
const dbl = (key, v) => ({ key, t: "d", v });

export function makeSpans(nTraces, seed = 1) {
  const r = rng(seed),
    text = textMaker(rng(7)),
    out = [];
  const range = (a, b) => Math.floor(a + r() * (b - a));
  let spanIdx = 0;
  for (let t = 0; t < nTraces; t++) {
    const base = 1763700000000 + t * 40,
      system = text(900),
      all = [];
    const span = (name, parent, kind, off, dur, attributes, extra) => {
      const s = {
        trace: t,
        id: spanIdx++ & 0xffff,
        parent: parent ? parent.id : -1,
        name,
        kind,
        startMs: base + off,
        endMs: base + off + dur,
        subNs: range(0, 999999),
        attributes,
        ok: true,
        events: [],
        ...extra,
      };
      all.push(s);
      return s;
    };
    const io = (a, b) => [
      str("traceloop.entity.input", JSON.stringify({ args: [], kwargs: { query: text(range(a, b)), top_k: 5 } })),
      str("traceloop.entity.output", JSON.stringify({ result: text(range(a, b)), score: r() })),
    ];
    const chain = (n, p, o, d) =>
      span(n, p, 1, o, d, [
        str("traceloop.span.kind", p ? "task" : "workflow"),
        str("traceloop.entity.name", n),
        str("traceloop.workflow.name", "support_agent"),
        str("traceloop.association.properties.user_id", "user-" + (t % 97)),
        ...io(300, 1200),
      ]);
    const llm = (p, o, d) => {
      const messages = [{ role: "system", content: system }];
      const want = range(2000, 8000);
      let have = 900;
      while (have < want) {
        const c = text(Math.min(want - have + 50, range(200, 1800)));
        messages.push({ role: messages.length % 2 ? "user" : "assistant", content: c });
        have += c.length + 40;
      }
      const answer = text(range(300, 2000));
      const a = [
        str("gen_ai.system", "openai"),
        str("gen_ai.operation.name", "chat"),
        str("gen_ai.request.model", "gpt-4o-mini"),
        str("gen_ai.response.model", "gpt-4o-mini-2024-07-18"),
        dbl("gen_ai.request.temperature", 0.2),
        int("gen_ai.request.max_tokens", 2048),
        str("llm.request.type", "chat"),
        int("gen_ai.usage.input_tokens", want >> 2),
        int("gen_ai.usage.output_tokens", answer.length >> 2),
      ];
      if (r() < 0.3) {
        messages.forEach((m, i) => {
          a.push(str(`gen_ai.prompt.${i}.role`, m.role), str(`gen_ai.prompt.${i}.content`, m.content));
        });
        a.push(
          str("gen_ai.completion.0.role", "assistant"),
          str("gen_ai.completion.0.content", answer),
          str("gen_ai.completion.0.finish_reason", "stop"),
        );
      } else {
        a.push(
          str("gen_ai.prompt", JSON.stringify({ messages })),
          str("gen_ai.completion", JSON.stringify({ role: "assistant", content: answer, finish_reason: "stop" })),
        );
      }
      return span("openai.chat", p, 3, o, d, a);
    };
    const tool = (p, o, d) =>
      span(
        "execute_tool search",
        p,
        1,
        o,
        d,
        [
          str("traceloop.span.kind", "tool"),
          str("traceloop.entity.name", "search"),
          str("gen_ai.tool.name", "search"),
          str("gen_ai.tool.call.id", "call_" + range(1e8, 1e9).toString(36)),
          ...io(150, 900),
        ],
        r() < 0.05
          ? {
              ok: false,
              events: [
                {
                  name: "exception",
                  attrs: [
                    str("exception.type", "TimeoutError"),
                    str("exception.message", text(80)),
                    str("exception.stacktrace", text(600)),
                  ],
                },
              ],
            }
          : {},
      );
    const root = chain("support_agent.workflow", null, 0, 3000);
    for (let i = 0; i < 3; i++) {
      const step = chain("agent.step", root, 10 + i * 900, 880);
      llm(step, 15 + i * 900, 300);
      tool(step, 320 + i * 900, 100);
      tool(step, 330 + i * 900, 120);
      llm(step, 460 + i * 900, 350);
      if (i < 3) chain("parse_output", step, 820 + i * 900, 20);
    }
    chain("finalize", root, 2800, 90);
    all.sort((x, y) => x.endMs - y.endMs);
    out.push(...all);
  }
  return out;
}

const idBytes = (n, idx, epoch = EPOCH0) => {
  const b = Buffer.alloc(n);
  b.set(MARK, 0);
  b.writeUIntBE(epoch, 3, 3);
  b.writeUIntBE(idx, n === 8 ? 6 : 12, n === 8 ? 2 : 4);
  return b;
};
const nanos = (ms, sub) => (BigInt(ms) * 1000000n + BigInt(sub)).toString();

// ---- protobuf ----
function varint(n) {
  const o = [];
  while (n > 127) {
    o.push((n % 128) | 128);
    n = Math.floor(n / 128);
  }
  o.push(n);
  return Buffer.from(o);
}
const len = (field, buf) => Buffer.concat([varint(field * 8 + 2), varint(buf.length), buf]);
const fstr = (field, s) => len(field, Buffer.from(s));
function fixed64(field, dec) {
  const b = Buffer.alloc(9);
  b[0] = field * 8 + 1;
  b.writeBigUInt64LE(BigInt(dec), 1);
  return b;
}
function kv(a) {
  let v;
  if (a.t === "s") v = fstr(1, a.v);
  else if (a.t === "i") v = Buffer.concat([Buffer.from([0x18]), varint(a.v)]);
  else {
    v = Buffer.alloc(9);
    v[0] = 0x21;
    v.writeDoubleLE(a.v, 1);
  }
  return Buffer.concat([fstr(1, a.key), len(2, v)]);
}
function pbSpan(s) {
  const p = [len(1, idBytes(16, s.trace)), len(2, idBytes(8, s.id))];
  if (s.parent >= 0) p.push(len(4, idBytes(8, s.parent)));
  p.push(
    fstr(5, s.name),
    Buffer.from([0x30, s.kind]),
    fixed64(7, nanos(s.startMs, s.subNs)),
    fixed64(8, nanos(s.endMs, s.subNs)),
  );
  for (const a of s.attributes) p.push(len(9, kv(a)));
  for (const e of s.events)
    p.push(
      len(
        11,
        Buffer.concat([fixed64(1, nanos(s.endMs, s.subNs)), fstr(2, e.name), ...e.attrs.map((a) => len(3, kv(a)))]),
      ),
    );
  p.push(
    len(15, s.ok ? Buffer.from([0x18, 1]) : Buffer.concat([fstr(2, "tool failed"), Buffer.from([0x18, 2])])),
    Buffer.from([0x85, 2, 1, 1, 0, 0]),
  );
  return Buffer.concat(p);
}
const RESOURCE = [
  str("service.name", "support-agent"),
  str("service.version", "1.4.2"),
  str("telemetry.sdk.language", "python"),
  str("telemetry.sdk.name", "opentelemetry"),
  str("telemetry.sdk.version", "1.27.0"),
  str("deployment.environment", "production"),
  str("host.name", "pod-7f9c"),
];
export function encodeProtobuf(spans) {
  const scope = Buffer.concat([fstr(1, "opentelemetry.instrumentation.openai"), fstr(2, "0.33.1")]);
  const ss = Buffer.concat([len(1, scope), ...spans.map((s) => len(2, pbSpan(s)))]);
  const rs = Buffer.concat([len(1, Buffer.concat(RESOURCE.map((a) => len(1, kv(a))))), len(2, ss)]);
  return len(1, rs);
}
// ---- log records: the content of LLM spans as gen_ai.client.inference.operation.details ----
const said = (m) => ({
  role: m.role,
  parts: [{ type: "text", content: m.content }],
  ...(m.finish_reason ? { finish_reason: m.finish_reason } : {}),
});
const findValue = (s, key) => s.attributes.find((a) => a.key === key)?.v;
function pbRecord(s) {
  const attributes = [
    str("gen_ai.operation.name", "chat"),
    str("gen_ai.input.messages", JSON.stringify(JSON.parse(findValue(s, "gen_ai.prompt")).messages.map(said))),
    str("gen_ai.output.messages", JSON.stringify([said(JSON.parse(findValue(s, "gen_ai.completion")))])),
  ];
  return Buffer.concat([
    fixed64(1, nanos(s.endMs, s.subNs)),
    Buffer.from([0x10, 9]),
    ...attributes.map((a) => len(6, kv(a))),
    len(9, idBytes(16, s.trace)),
    len(10, idBytes(8, s.id)),
    fstr(12, "gen_ai.client.inference.operation.details"),
  ]);
}
function encodeLogs(spans) {
  const scope = Buffer.concat([fstr(1, "opentelemetry.instrumentation.openai"), fstr(2, "0.33.1")]);
  const scopeLogs = Buffer.concat([len(1, scope), ...spans.map((s) => len(2, pbRecord(s)))]);
  return len(1, Buffer.concat([len(1, Buffer.concat(RESOURCE.map((a) => len(1, kv(a))))), len(2, scopeLogs)]));
}
/** The requests of a part of the spans: one, or with logs two. */
function encodeRequests(part, { format, ids, logs }) {
  const spansOnly = (all) => ({
    buf: format === "protobuf" ? encodeProtobuf(all) : encodeJson(all, ids),
    spans: all.length,
    path: "/v1/traces",
  });
  const moved = logs ? part.filter((s) => findValue(s, "gen_ai.prompt") !== undefined) : [];
  if (moved.length === 0) return [spansOnly(part)];
  const without = (s) => s.attributes.filter((a) => !/^gen_ai\.(prompt|completion)$/.test(a.key));
  const bare = part.map((s) => (moved.includes(s) ? { ...s, attributes: without(s) } : s));
  return [{ buf: encodeLogs(moved), spans: 0, path: "/v1/logs" }, spansOnly(bare)];
}
// ---- JSON ----
const jkv = (a) => ({
  key: a.key,
  value: a.t === "s" ? { stringValue: a.v } : a.t === "i" ? { intValue: String(a.v) } : { doubleValue: a.v },
});
export function encodeJson(spans, ids = "hex") {
  const enc = ids === "hex" ? "hex" : "base64";
  const js = spans.map((s) => ({
    traceId: idBytes(16, s.trace).toString(enc),
    spanId: idBytes(8, s.id).toString(enc),
    ...(s.parent >= 0 ? { parentSpanId: idBytes(8, s.parent).toString(enc) } : {}),
    name: s.name,
    kind: s.kind,
    startTimeUnixNano: nanos(s.startMs, s.subNs),
    endTimeUnixNano: nanos(s.endMs, s.subNs),
    attributes: s.attributes.map(jkv),
    droppedAttributesCount: 0,
    events: s.events.map((e) => ({
      timeUnixNano: nanos(s.endMs, s.subNs),
      name: e.name,
      attributes: e.attrs.map(jkv),
    })),
    links: [],
    status: s.ok ? { code: 1 } : { code: 2, message: "tool failed" },
  }));
  return Buffer.from(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: RESOURCE.map(jkv) },
          scopeSpans: [{ scope: { name: "opentelemetry.instrumentation.openai", version: "0.33.1" }, spans: js }],
        },
      ],
    }),
  );
}

const epochKey = (epoch, format, ids) => {
  const b = Buffer.alloc(6);
  b.set(MARK, 0);
  b.writeUIntBE(epoch, 3, 3);
  return format === "protobuf" ? b : Buffer.from(b.toString(ids === "hex" ? "hex" : "base64"));
};
export function makePool({
  traces = 200,
  perRequest = 64,
  format = "protobuf",
  ids = "hex",
  gzip = false,
  logs = false,
  seed = 1,
} = {}) {
  const spans = makeSpans(traces, seed),
    pool = [],
    key = epochKey(EPOCH0, format, ids);
  for (let i = 0; i < spans.length; i += perRequest) {
    for (const { buf, ...request } of encodeRequests(spans.slice(i, i + perRequest), { format, ids, logs })) {
      const offsets = [];
      for (let o = buf.indexOf(key); o >= 0; o = buf.indexOf(key, o + key.length)) offsets.push(o);
      const item = { ...request, buf, raw: buf.length, offsets };
      if (gzip) {
        item.buf = zlib.gzipSync(buf, { level: 6 });
        offsets.length = 0;
      }
      pool.push(item);
    }
  }
  return pool;
}
export function setEpoch(item, epoch, format, ids) {
  const key = epochKey(epoch & 0xffffff, format, ids);
  for (const o of item.offsets) item.buf.set(key, o);
}
if (process.argv[1] && import.meta.url.endsWith(process.argv[1].split("/").pop())) {
  const [tr = "50", per = "64", fmt = "protobuf", out] = process.argv.slice(2);
  const pool = makePool({ traces: +tr, perRequest: +per, format: fmt });
  const raw = pool.reduce((a, b) => a + b.raw, 0),
    n = pool.reduce((a, b) => a + b.spans, 0);
  console.log({
    requests: pool.length,
    spans: n,
    bytesPerSpan: Math.round(raw / n),
    gzipRatio: +(pool[0].buf.length / zlib.gzipSync(pool[0].buf).length).toFixed(2),
  });
  if (out) fs.writeFileSync(out, pool[0].buf);
}
