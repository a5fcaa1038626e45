// big.mjs - one large protobuf body a second, and between them GET /live every 5 ms: how long others wait meanwhile.
// The reply to /live needs one turn of the target's event loop, so its latency is the loop's delay plus what HTTP costs.
// Env/args as KEY=VALUE: PORT, SECONDS (5), BIG=20 (MB a body), KEY. Prints one JSON line like load.mjs; p50, p99 and max are
// those of /live. Only talks to 127.0.0.1.
import http from "node:http";
import { makePool, setEpoch } from "./gen.mjs";
const E = { ...process.env };
for (const a of process.argv.slice(2)) {
  const [k, v] = a.split("=");
  E[k] = v;
}
const port = +E.PORT,
  seconds = +(E.SECONDS ?? 5),
  size = +(E.BIG ?? 20) * 1e6;
const pool = makePool({ traces: 200, perRequest: 64, format: "protobuf", ids: "hex", gzip: false });
const agent = new http.Agent({ keepAlive: true });
const lat = [],
  status = {};
let ackSpans = 0,
  round = 0;
function body() {
  const parts = [];
  let bytes = 0,
    spans = 0;
  for (; bytes < size; round++)
    for (const p of pool) {
      setEpoch(p, ((Date.now() >>> 4) & 0xffffff) + round, "protobuf", "hex");
      parts.push(Buffer.from(p.buf));
      bytes += p.buf.length;
      spans += p.spans;
      if (bytes >= size) break;
    }
  return { bytes: Buffer.concat(parts), spans };
}
const call = (method, path, headers, payload) =>
  new Promise((resolve, reject) => {
    const q = http.request({ port, host: "127.0.0.1", method, path, headers, agent }, (r) => {
      r.resume();
      r.on("end", () => resolve(r.statusCode));
    });
    q.on("error", reject);
    q.end(payload);
  });
const bodies = Array.from({ length: Math.max(1, Math.floor(seconds)) }, body); // made beforehand: it takes this process's CPU
const until = performance.now() + seconds * 1000;
const sending = [];
for (let next = performance.now(); performance.now() < until;) {
  if (performance.now() >= next && bodies.length > 0) {
    next += 1000;
    const one = bodies.pop();
    const headers = { "content-type": "application/x-protobuf", "x-api-key": E.KEY ?? "test-key" };
    sending.push(
      call("POST", "/v1/traces", headers, one.bytes).then((code) => {
        status[code] = (status[code] ?? 0) + 1;
        if (code === 200) ackSpans += one.spans;
      }),
    );
    await new Promise((r) => setImmediate(r));
  }
  const t = performance.now();
  await call("GET", "/live", {});
  lat.push(performance.now() - t);
  await new Promise((r) => setTimeout(r, 5));
}
await Promise.allSettled(sending);
lat.sort((a, b) => a - b);
const q = (p) => +(lat[Math.min(lat.length - 1, Math.floor(lat.length * p))] ?? 0).toFixed(2);
console.log(
  JSON.stringify({
    wall: seconds,
    ackSpans,
    spansPerS: Math.round(ackSpans / seconds),
    status,
    errors: 0,
    p50: q(0.5),
    p99: q(0.99),
    max: q(1),
  }),
);
process.exit(0);
