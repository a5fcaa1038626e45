// Test of the console's files as a real server sends them, built from the sources in this repository. Rules:
//   console.1. A first load costs at most FIRST_LOAD_BYTES_MAX, packed.
//   console.2. page-files.1 to page-files.5 of packages/base/src/http/pages/page-files.ts, below a prefix.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { removeFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

const TINY_BYTES = 256;
const FIRST_LOAD_BYTES_MAX = 250_000;
const PREFIX = "/behind/a.prefix";

let server: ServerHere;

before(async () => {
  server = await startServerHere({ env: { MOUNT_PREFIX: PREFIX } });
});

after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Sends the target unchanged: fetch() would normalise it. */
function get(target: string, method = "GET", headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const call = request({ hostname, port, path: PREFIX + target, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    call.on("error", reject).end();
  });
}

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

async function manifest(): Promise<Readonly<Record<string, Chunk>>> {
  const { status, bytes } = await get("/console/manifest.json");
  assert.equal(status, 200);
  return JSON.parse(bytes.toString()) as Record<string, Chunk>;
}

/** Everything that a chunk needs before it runs. */
function collectFiles(chunks: Readonly<Record<string, Chunk>>, name: string, found = new Set<string>()): Set<string> {
  const chunk = chunks[name];
  assert.ok(chunk, `${name} was built`);
  if (found.has(chunk.file)) return found;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) found.add(file);
  for (const other of chunk.imports ?? []) collectFiles(chunks, other, found);
  return found;
}

test("a first load of the inbox, packed, is small enough (console.1)", async (t) => {
  const chunks = await manifest();
  const files = new Set([...collectFiles(chunks, "index.html"), ...collectFiles(chunks, "pages/inbox/page.tsx")]);
  let size = (await get("/console")).bytes.length;
  for (const file of files) {
    const { status, headers, bytes } = await get(`/console/${file}`, "GET", { "accept-encoding": "br, gzip" });
    assert.equal(status, 200, file);
    // A tiny file is smaller as it is.
    assert.ok(headers["content-encoding"] === "gzip" || bytes.length < TINY_BYTES, file);
    size += bytes.length;
  }
  t.diagnostic(`first load: ${size} bytes in ${files.size + 1} files`);
  assert.ok(size <= FIRST_LOAD_BYTES_MAX, `${size} bytes`);
});

for (const path of [
  "/console",
  "/console/",
  "/console/inbox",
  "/console/inbox/0190-thread/interrupt",
  "/console/x/y/z",
]) {
  test(`${path} is the page, and its files are found from there (page-files.3, page-files.4)`, async () => {
    const { status, headers, bytes } = await get(path);
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["cache-control"], "no-store");
    const addresses = [...bytes.toString().matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    assert.ok(addresses.length >= 3, "script, style and icon");
    for (const address of addresses) {
      const { pathname } = new URL(address, `http://x${PREFIX}${path}`);
      assert.equal((await get(pathname.slice(PREFIX.length))).status, 200, `${address} from ${path}`);
    }
  });
}

test("the content policy blocks other origins and inline scripts (page-files.5)", async () => {
  const { headers, bytes } = await get("/console");
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /default-src 'self'; script-src 'self'; style-src 'self' 'nonce-[^']+';/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(bytes.toString(), /<script(?![^>]*\bsrc=)/);
  assert.notEqual(String((await get("/console")).headers["content-security-policy"]), policy, "a nonce is used once");
});

test("built files are cached for ever, and compressed only for clients that accept it (page-files.2)", async () => {
  const file = `/console/${(await manifest())["index.html"]?.file}`;
  const packed = await get(file, "GET", { "accept-encoding": "gzip" });
  const plain = await get(file, "GET", { "accept-encoding": "gzip;q=0, identity" });
  assert.equal(packed.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(packed.headers["vary"], "Accept-Encoding");
  assert.equal(packed.headers["content-type"], "text/javascript; charset=utf-8");
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
  assert.equal(Number(plain.headers["content-length"]), plain.bytes.length);
});

test("HEAD has the headers of GET, and no body", async () => {
  const file = `/console/${(await manifest())["index.html"]?.file}`;
  for (const path of ["/console/inbox", file]) {
    const head = await get(path, "HEAD");
    const whole = await get(path);
    assert.equal(head.status, 200);
    assert.equal(head.bytes.length, 0);
    assert.equal(head.headers["content-length"], whole.headers["content-length"]);
  }
});

const REFUSED: readonly (readonly [method: string, path: string, status: number, code: string])[] = [
  ["GET", "/console/assets/index-00000000.js", 404, "not_found"],
  ["GET", "/console/../package.json", 404, "not_found"],
  ["GET", "/console/..%2f..%2fpackage.json", 404, "not_found"],
  ["GET", "/console/%2e%2e/package.json", 404, "not_found"],
  ["GET", "/console/assets/..%5c..%5cpackage.json", 404, "not_found"],
  ["GET", "/console/assets/%00", 404, "not_found"],
  ["POST", "/console/inbox", 405, "method_not_allowed"],
  ["DELETE", "/console", 405, "method_not_allowed"],
];

for (const [method, path, status, code] of REFUSED) {
  test(`${method} ${path} is ${code} (page-files.1)`, async () => {
    const answer = await get(path, method);
    assert.equal(answer.status, status);
    assert.equal((JSON.parse(answer.bytes.toString()) as { readonly code: string }).code, code);
  });
}

test("without the console, its address leads nowhere", async () => {
  const plain = await startServerHere({ env: { HOLDPOINT_CONSOLE: "false" } });
  try {
    assert.equal((await fetch(`${plain.url}/console`)).status, 404);
  } finally {
    await plain.stop();
    removeFolder(plain.dataDir);
  }
});
