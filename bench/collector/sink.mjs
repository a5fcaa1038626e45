// sink.mjs - a counting stand-in for the tracing backend. Needs node >= 22.15 (node:zlib zstd). No dependencies.
// POST /runs/multipart (any path): counts requests, wire bytes, decoded bytes, parts and runs ("post.<uuid>" parts).
// GET  /stats -> JSON counters;  POST /reset -> zero them;
// POST /mode {"status":202,"delayMs":0,"hang":false,"destroy":false,"retryAfter":null} -> how uploads are answered from now on
//   (status 500/429..., delayMs waits before answering, hang never answers, destroy cuts the connection after the headers).
// Env: PORT (9100), COUNT=parts|bytes (parts: decompress and count; bytes: only wire bytes, cheapest), KEEP_IDS=1 keeps the set
//   of run ids to report duplicates; LEVEL3=1 compresses every upload again, to compare. CLI: node sink.mjs
import http from "node:http";
import zlib from "node:zlib";
const COUNT = process.env.COUNT ?? "parts",
  KEEP = process.env.KEEP_IDS === "1",
  LEVEL3 = process.env.LEVEL3 === "1";
let s,
  mode = { status: 202, delayMs: 0, hang: false, destroy: false, retryAfter: null };
const zero = () => {
  s = { requests: 0, wire: 0, decoded: 0, parts: 0, runs: 0, duplicates: 0, bad: 0, level3: 0, first: 0, last: 0 };
  ids = new Set();
};
let ids;
zero();
const NAME = Buffer.from('name="post.');
function count(enc, body) {
  try {
    const b = enc === "zstd" ? zlib.zstdDecompressSync(body) : enc === "gzip" ? zlib.gunzipSync(body) : body;
    s.decoded += b.length;
    if (LEVEL3)
      s.level3 += zlib.zstdCompressSync(b, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 } }).length;
    for (let o = b.indexOf(NAME); o >= 0; o = b.indexOf(NAME, o + NAME.length)) {
      s.parts++;
      const q = o + NAME.length + 36;
      if (b[q] === 0x22) {
        s.runs++;
        if (KEEP) {
          const id = b.latin1Slice(q - 36, q);
          if (ids.has(id)) s.duplicates++;
          else ids.add(id);
        }
      }
    }
  } catch {
    s.bad++;
  }
}
http
  .createServer((req, res) => {
    if (req.method === "GET" && req.url === "/stats") {
      res.end(JSON.stringify(s));
      return;
    }
    if (req.url === "/reset") {
      zero();
      {
        res.end("{}");
        return;
      }
    }
    if (req.method === "GET") {
      res.setHeader("content-type", "application/json");
      {
        res.end(
          JSON.stringify({
            version: "0.12.0",
            batch_ingest_config: { use_multipart_endpoint: true, size_limit: 100, size_limit_bytes: 20971520 },
            instance_flags: { zstd_compression_enabled: true },
          }),
        );
        return;
      }
    }
    const counting = req.url !== "/mode";
    if (counting && mode.destroy) {
      req.socket.destroy();
      return;
    }
    const chunks = [];
    req.on("data", (c) => chunks.push(c));
    req.on("end", () => {
      const body = Buffer.concat(chunks);
      if (!counting) {
        mode = { ...mode, ...JSON.parse(body.toString() || "{}") };
        {
          res.end(JSON.stringify(mode));
          return;
        }
      }
      const done = () => {
        if (mode.hang) return;
        s.requests++;
        s.wire += body.length;
        s.first ||= Date.now();
        s.last = Date.now();
        if (mode.status < 300 && COUNT === "parts") count(req.headers["content-encoding"], body);
        res.writeHead(
          mode.status,
          mode.retryAfter ? { "retry-after": mode.retryAfter, "content-length": 2 } : { "content-length": 2 },
        );
        res.end("{}");
      };
      if (mode.delayMs) setTimeout(done, mode.delayMs);
      else done();
    });
    req.on("error", () => {});
  })
  .on("clientError", (e, sock) => sock.destroy())
  .listen(+(process.env.PORT ?? 9100), "127.0.0.1", () => console.log("sink ready"));
