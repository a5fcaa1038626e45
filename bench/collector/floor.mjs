// floor.mjs - the simplest fast Node pipeline that does the proxy's job in skeleton: the practical limit on this machine.
// node:http in -> (gunzip) -> hand protobuf reader or JSON.parse -> runs with parent/dotted_order -> multipart parts -> zstd -> upload.
// Skeleton: one attribute dialect, no filter, no TTL sweep, no retry; NOT the product. Node >= 22.15.
// Env: PORT, SINK, LEVEL (zstd level, 1), BATCH (100), SPLICE=1 (reuse the attribute's JSON text after a validating JSON.parse) or 0
//   (parse + re-stringify), VALIDATE=0 (with SPLICE: no parse at all, only first/last character; unsafe bound), ZSTD=sync|async|none,
//   ENC=write|join, INFLIGHT (4 uploads at once), MAXQ (bytes of compressed batches + open batch above which requests get 503).
// Exports translate/partsOf for the stage benchmark.
import http from "node:http";
import zlib from "node:zlib";
import { makeReader } from "./reader.mjs";
const E = process.env,
  LEVEL = +(E.LEVEL ?? 1),
  BATCH = +(E.BATCH ?? 100),
  MAXB = 10 << 20,
  ZSTD = E.ZSTD ?? "async";
let SPLICE = E.SPLICE !== "0",
  VALIDATE = E.VALIDATE !== "0";
export const setMode = (splice, validate) => {
  SPLICE = splice;
  VALIDATE = validate;
};
const read = makeReader();
const u = (h) => {
  const x = h.length === 32 ? h : "0000000000000000" + h;
  return x.slice(0, 8) + "-" + x.slice(8, 12) + "-" + x.slice(12, 16) + "-" + x.slice(16, 20) + "-" + x.slice(20);
};
function micros(hi, lo) {
  const q = Math.floor(hi / 1000);
  return q * 4294967296 + Math.floor(((hi - q * 1000) * 4294967296 + lo) / 1000);
}
let secAt = -1,
  secStr = "";
function iso(us) {
  const s = Math.floor(us / 1e6);
  if (s !== secAt) {
    secAt = s;
    secStr = new Date(s * 1000).toISOString().slice(0, 20);
  }
  return secStr + String(us - s * 1e6).padStart(6, "0") + "Z";
}
const compact = (i) => i.replace(/[-:.]/g, "").slice(0, 21) + "Z";

function withUsage(s, key, usage) {
  // JSON text of inputs/outputs; usage = JSON text to add
  if (SPLICE) {
    let ok = s.charCodeAt(0) === 123 && s.charCodeAt(s.length - 1) === 125;
    if (ok && VALIDATE)
      try {
        JSON.parse(s);
      } catch {
        ok = false;
      }
    if (!ok) s = `{"${key}":${JSON.stringify(s)}}`;
    return usage ? s.slice(0, -1) + (s.length > 2 ? "," : "") + '"usage_metadata":' + usage + "}" : s;
  }
  let o;
  try {
    o = JSON.parse(s);
    if (o === null || typeof o !== "object" || Array.isArray(o)) o = { [key]: s };
  } catch {
    o = { [key]: s };
  }
  if (usage) o.usage_metadata = JSON.parse(usage);
  return JSON.stringify(o);
}
export function translate(s, project) {
  // span of reader.mjs -> { id, parent, trace, base object, inputs text, outputs text }
  const a = s.attrs,
    meta = { OTEL_TRACE_ID: s.traceId, OTEL_SPAN_ID: s.spanId },
    inv = {},
    msgsIn = [],
    msgsOut = [];
  let type = "chain",
    name = s.name,
    inText = "",
    outText = "",
    it = -1,
    ot = -1;
  for (let i = 0; i < a.length; i += 2) {
    const k = a[i],
      v = a[i + 1];
    switch (k) {
      case "gen_ai.prompt":
      case "traceloop.entity.input":
        inText = v;
        break;
      case "gen_ai.completion":
      case "traceloop.entity.output":
        outText = v;
        break;
      case "gen_ai.usage.input_tokens":
        it = v;
        break;
      case "gen_ai.usage.output_tokens":
        ot = v;
        break;
      case "gen_ai.system":
        meta.ls_provider = v;
        break;
      case "gen_ai.request.model":
        meta.ls_model_name = v;
        inv.model = v;
        break;
      case "gen_ai.operation.name":
      case "llm.request.type":
        if (v === "chat") type = "llm";
        break;
      case "traceloop.span.kind":
        type = v === "tool" ? "tool" : "chain";
        break;
      case "gen_ai.tool.name":
        type = "tool";
        inv.tool_name = v;
        break;
      case "traceloop.entity.name":
        name = v;
        break;
      default:
        if (k.startsWith("gen_ai.prompt.") || k.startsWith("gen_ai.completion.")) {
          const p = k.split("."),
            l = p[1] === "prompt" ? msgsIn : msgsOut;
          (l[+p[2]] ??= {})[p.slice(3).join(".")] = v;
        } else if (k.startsWith("gen_ai.request.")) inv[k.slice(15)] = v;
        else if (k.startsWith("traceloop.association.properties.")) meta[k.slice(33)] = v;
    }
  }
  const usage = it >= 0 || ot >= 0 ? `{"input_tokens":${it},"output_tokens":${ot},"total_tokens":${it + ot}}` : "";
  const inputs = msgsIn.length ? JSON.stringify({ messages: msgsIn }) : inText ? withUsage(inText, "input", "") : "";
  const outputs = msgsOut.length
    ? JSON.stringify({ messages: msgsOut, ...(usage ? { usage_metadata: JSON.parse(usage) } : {}) })
    : outText
      ? withUsage(outText, "text", usage)
      : "";
  const trace = u(s.traceId),
    root = s.parentId === "",
    start = iso(micros(s.sHi, s.sLo));
  let error;
  if (s.events)
    for (const e of s.events)
      if (e.name === "exception") {
        const i = e.attrs.indexOf("exception.message");
        error = e.attrs[i + 1];
      }
  return {
    id: root ? trace : u(s.spanId),
    key: s.spanId,
    parentKey: s.parentId,
    trace,
    dot: compact(start),
    inputs,
    outputs,
    base: {
      id: "",
      trace_id: trace,
      name,
      run_type: type,
      start_time: start,
      end_time: iso(micros(s.eHi, s.eLo)),
      session_name: project,
      dotted_order: "",
      parent_run_id: undefined,
      status: error || s.code === 2 ? "error" : "success",
      error,
      extra: { metadata: meta, invocation_params: inv },
    },
  };
}
export function fromJson(j) {
  // OTLP JSON -> the reader's span shape
  const out = [],
    val = (v) =>
      v.stringValue ?? (v.intValue !== undefined ? Number(v.intValue) : (v.doubleValue ?? v.boolValue ?? null)),
    kvs = (l) => {
      const a = [];
      for (const x of l) a.push(x.key, val(x.value));
      return a;
    };
  const half = (d) => {
    const n = BigInt(d);
    return [Number(n >> 32n), Number(n & 0xffffffffn)];
  };
  for (const rs of j.resourceSpans)
    for (const ss of rs.scopeSpans)
      for (const s of ss.spans) {
        const [sHi, sLo] = half(s.startTimeUnixNano),
          [eHi, eLo] = half(s.endTimeUnixNano);
        out.push({
          traceId: s.traceId,
          spanId: s.spanId,
          parentId: s.parentSpanId ?? "",
          name: s.name,
          kind: s.kind,
          sHi,
          sLo,
          eHi,
          eLo,
          attrs: kvs(s.attributes),
          events: s.events?.length ? s.events.map((e) => ({ name: e.name, attrs: kvs(e.attributes) })) : null,
          code: s.status?.code ?? 0,
          message: "",
        });
      }
  return out;
}
export function formatParts(r, boundary) {
  // one string: multipart parts of one run
  const one = (name, j) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="post.${name}"\r\nContent-Type: application/json\r\n\r\n${j}\r\n`;
  let t = one(r.id, JSON.stringify(r.base));
  if (r.inputs) t += one(r.id + ".inputs", r.inputs);
  if (r.outputs) t += one(r.id + ".outputs", r.outputs);
  return t;
}
export { read };

if (process.argv[1]?.endsWith("floor.mjs")) {
  const BOUNDARY = "----b" + process.pid.toString(36) + Date.now().toString(36),
    SINK = new URL(E.SINK),
    INFLIGHT = +(E.INFLIGHT ?? 4),
    MAXQ = +(E.MAXQ ?? 256 << 20);
  const agent = new http.Agent({ keepAlive: true, maxSockets: INFLIGHT });
  const WRITE = E.ENC !== "join";
  let big = WRITE ? Buffer.allocUnsafeSlow(1 << 20) : null; // ENC=write: each run encoded at once into the batch buffer
  let parts = [],
    n = 0,
    size = 0,
    queue = [],
    queued = 0,
    inflight = 0;
  const known = new Map(),
    waiting = new Map(); // spanId -> dotted order; parent spanId -> runs
  const zopt = { params: { [zlib.constants.ZSTD_c_compressionLevel]: LEVEL } };
  function pump() {
    while (inflight < INFLIGHT && queue.length) {
      const body = queue.shift();
      inflight++;
      const req = http.request(
        {
          host: SINK.hostname,
          port: SINK.port,
          path: "/runs/multipart",
          method: "POST",
          agent,
          headers: {
            "content-type": "multipart/form-data; boundary=" + BOUNDARY,
            "content-encoding": ZSTD === "none" ? "identity" : "zstd",
            "x-api-key": "k",
            "content-length": body.length,
          },
        },
        (res) => {
          res.resume();
          res.on("end", done);
        },
      );
      const done = () => {
        inflight--;
        queued -= body.length;
        pump();
      };
      req.on("error", done);
      req.end(body);
    }
  }
  function enqueue(b) {
    queued += b.length;
    queue.push(b);
    pump();
  }
  function put(t) {
    const room = t.length * 3;
    if (big.length - size < room) {
      const b = Buffer.allocUnsafeSlow((size + room) * 2);
      big.copy(b, 0, 0, size);
      big = b;
    }
    size += big.utf8Write(t, size);
  }
  function flush() {
    if (n === 0) return;
    const end = `--${BOUNDARY}--\r\n`;
    let raw;
    if (WRITE) {
      put(end);
      raw = big.subarray(0, size);
      big = Buffer.allocUnsafeSlow(Math.max(1 << 16, Math.ceil(size * 1.25)));
    } else {
      parts.push(end);
      raw = Buffer.from(parts.join(""));
      parts = [];
    }
    n = 0;
    size = 0;
    if (ZSTD === "none") enqueue(raw);
    else if (ZSTD === "sync") enqueue(zlib.zstdCompressSync(raw, zopt));
    else {
      queued += raw.length;
      zlib.zstdCompress(raw, zopt, (e, b) => {
        queued -= raw.length;
        enqueue(b);
      });
    }
  }
  function add(r, dotted, parentId) {
    r.base.id = r.id;
    r.base.dotted_order = dotted;
    r.base.parent_run_id = parentId;
    known.set(r.key, [dotted, r.id]);
    const t = formatParts(r, BOUNDARY);
    if (WRITE) put(t);
    else {
      parts.push(t);
      size += t.length;
    }
    if (++n >= BATCH || size >= MAXB) flush();
    const kids = waiting.get(r.key);
    if (kids) {
      waiting.delete(r.key);
      for (const k of kids) add(k, dotted + "." + k.dot + k.id, r.id);
    }
  }
  setInterval(flush, 1000);
  setInterval(() => {
    if (known.size > 200000) known.clear();
  }, 2000);
  function ingest(buf, json) {
    for (const s of json ? fromJson(JSON.parse(buf.toString())) : read(buf)) {
      const r = translate(s, "default");
      if (r.parentKey === "") add(r, r.dot + r.id, undefined);
      else {
        const p = known.get(r.parentKey);
        if (p) add(r, p[0] + "." + r.dot + r.id, p[1]);
        else {
          const w = waiting.get(r.parentKey);
          if (w) w.push(r);
          else waiting.set(r.parentKey, [r]);
        }
      }
    }
  }
  http
    .createServer((req, res) => {
      if (req.method !== "POST") {
        res.end("ok");
        return;
      }
      if (queued > MAXQ) {
        req.resume();
        res.writeHead(503, { "retry-after": 1, "content-length": 0 });
        res.end();
        return;
      }
      const want = +req.headers["content-length"] || 0,
        chunks = [];
      let got = 0;
      const one = want ? Buffer.allocUnsafeSlow(want) : null;
      req.on("data", (c) => {
        if (one) {
          c.copy(one, got);
          got += c.length;
        } else chunks.push(c);
      });
      req.on("end", () => {
        try {
          let b = one ?? Buffer.concat(chunks);
          if (req.headers["content-encoding"] === "gzip") b = zlib.gunzipSync(b);
          ingest(b, req.headers["content-type"].includes("json"));
          res.writeHead(200, { "content-length": 0 });
          res.end();
        } catch {
          res.writeHead(400, { "content-length": 0 });
          res.end();
        }
      });
    })
    .listen(+E.PORT, "127.0.0.1");
}
