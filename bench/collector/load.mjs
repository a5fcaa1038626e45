// load.mjs - load generator: replays a pre-encoded pool of OTLP requests over raw keep-alive sockets (cheap on the sender's CPU).
// Env/args as KEY=VALUE: PORT (4318) FORMAT=protobuf|json IDS=hex|b64 GZIP=0|1 PER=64 CONC=16 SECONDS=5 (or SPANS=n) TRACES=200
//   KEY=test-key FRESH=1 (new ids each replay of the pool; with GZIP=1 each body is compressed again, level 1, on the sender's core)
//   LOGS=1 (protobuf: a request of log records before each request of spans)  RESEND=1 (a refused request is sent again after its Retry-After, as exporters do; else it is given up)  PATHNAME=/v1/traces  RATE=n (spans per second at most, latency then counted from the planned send time; default: as fast as answered)
// The load ends at the end of a pool, so that only whole traces were sent.
// Prints one JSON line: sent requests/spans, statuses, wall seconds, latency p50/p99/max, body bytes.
// Bounded: stops by SECONDS in any case. Only talks to 127.0.0.1.
import net from "node:net";
import zlib from "node:zlib";
import { makePool, setEpoch } from "./gen.mjs";
const E = { ...process.env };
for (const a of process.argv.slice(2)) {
  const [k, v] = a.split("=");
  E[k] = v;
}
const o = {
  port: +(E.PORT ?? 4318),
  format: E.FORMAT ?? "protobuf",
  ids: E.IDS ?? "hex",
  gzip: E.GZIP === "1",
  per: +(E.PER ?? 64),
  conc: +(E.CONC ?? 16),
  seconds: +(E.SECONDS ?? 5),
  spans: +(E.SPANS ?? Infinity),
  traces: +(E.TRACES ?? 200),
  key: E.KEY ?? "test-key",
  fresh: E.FRESH !== "0",
  rate: +(E.RATE ?? 0),
  logs: E.LOGS === "1",
  resend: E.RESEND === "1",
  path: E.PATHNAME ?? null,
};
const pool = makePool({ traces: o.traces, perRequest: o.per, format: o.format, ids: o.ids, gzip: false, logs: o.logs });
if (o.gzip && !o.fresh)
  for (const p of pool) {
    p.buf = zlib.gzipSync(p.buf, { level: 1 });
    p.offsets = [];
  }
const head = (n, path) =>
  Buffer.from(
    `POST ${o.path ?? path} HTTP/1.1\r\nHost: 127.0.0.1:${o.port}\r\nContent-Type: application/${o.format === "protobuf" ? "x-protobuf" : "json"}\r\n` +
      (o.gzip ? "Content-Encoding: gzip\r\n" : "") +
      `X-API-Key: ${o.key}\r\nContent-Length: ${n}\r\n\r\n`,
  );
for (const p of pool) {
  const h = head(p.buf.length, p.path);
  p.head = h;
}
let next = 0,
  sentSpans = 0,
  ackSpans = 0,
  sentReq = 0,
  bytes = 0,
  raw = 0,
  errors = 0,
  stop = false,
  live = 0;
const status = {},
  lat = [];
const epoch0 = (Date.now() >>> 4) & 0xffffff;
function take() {
  if ((stop || sentSpans >= o.spans) && next % pool.length === 0) return null;
  const p = pool[next % pool.length],
    round = Math.floor(next / pool.length);
  next++;
  if (o.fresh && p.offsets.length) setEpoch(p, epoch0 + round, o.format, o.ids);
  const body = o.gzip && o.fresh ? zlib.gzipSync(p.buf, { level: 1 }) : p.buf;
  const planned = o.rate ? t0ms + (sentSpans / o.rate) * 1000 : 0;
  sentSpans += p.spans;
  sentReq++;
  bytes += body.length;
  raw += p.raw;
  return { spans: p.spans, body, head: body === p.buf ? p.head : head(body.length, p.path), planned };
}
const t0ms = performance.now(),
  cpu0 = process.cpuUsage();
function conn() {
  live++;
  const sock = net.connect({ port: o.port, host: "127.0.0.1", noDelay: true });
  let cur = null,
    start = 0,
    acc = "";
  const send = (again = null) => {
    cur = again ?? take();
    if (!cur) {
      sock.end();
      return;
    }
    const c = cur,
      early = c.planned - performance.now();
    // a copy, because the pool buffer may get new ids while the kernel has not yet taken it
    const bytes = (c.bytes ??= Buffer.concat([c.head, c.body]));
    start = c.planned || performance.now();
    if (early > 1) setTimeout(() => sock.write(bytes), early);
    else sock.write(bytes);
  };
  sock.on("connect", () => send());
  sock.on("data", (d) => {
    acc += d.latin1Slice();
    const h = acc.indexOf("\r\n\r\n");
    if (h < 0) return;
    const m = /content-length: (\d+)/i.exec(acc.slice(0, h));
    if (
      m ? acc.length < h + 4 + +m[1] : /transfer-encoding: chunked/i.test(acc.slice(0, h)) && !acc.endsWith("0\r\n\r\n")
    )
      return;
    const code = acc.slice(9, 12);
    const waitS = code === "503" || code === "429" ? /retry-after: (\d+)/i.exec(acc.slice(0, h))?.[1] : undefined;
    acc = "";
    status[code] = (status[code] ?? 0) + 1;
    if (code[0] === "2") ackSpans += cur.spans;
    lat.push(performance.now() - start);
    if (o.resend && waitS !== undefined) {
      setTimeout(send, +waitS * 1000, cur);
      return;
    }
    cur = null;
    send();
  });
  sock.on("error", () => {
    errors++;
  });
  sock.on("close", () => {
    live--;
    if ((!(stop || sentSpans >= o.spans) || next % pool.length !== 0) && errors < 1000) setTimeout(conn, 20);
    else if (live === 0) finish();
  });
}
function finish() {
  if (finish.done) return;
  finish.done = true;
  const wall = (performance.now() - t0ms) / 1000;
  lat.sort((a, b) => a - b);
  const q = (p) => +(lat[Math.min(lat.length - 1, Math.floor(lat.length * p))] ?? 0).toFixed(2);
  const c = process.cpuUsage(cpu0);
  console.log(
    JSON.stringify({
      wall: +wall.toFixed(3),
      requests: sentReq,
      spans: sentSpans,
      ackSpans,
      spansPerS: Math.round(ackSpans / wall),
      status,
      errors,
      bodyMB: +(bytes / 1e6).toFixed(1),
      rawMB: +(raw / 1e6).toFixed(1),
      p50: q(0.5),
      p99: q(0.99),
      max: q(1),
      senderCpu: +((c.user + c.system) / 1e6).toFixed(2),
    }),
  );
  process.exit(0);
}
for (let i = 0; i < o.conc; i++) conn();
setTimeout(() => {
  stop = true;
  setTimeout(finish, 15_000).unref();
}, o.seconds * 1000);
