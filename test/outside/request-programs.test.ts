// Programs that ask over /requests, as docs/how-to/ask-from-any-program.md has them: each survives kill -9 of itself and
// of the server while it waits, and gets the answer once. In short the server is killed for one of them, and stops for
// the others. Needs curl, jq and python3.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as send, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test, type TestContext } from "node:test";
import { readExampleCode } from "../fixtures/how-to.ts";
import { holdpoint, verb } from "../harness/cli.ts";
import { readAudit } from "../harness/inbox.ts";
import { IS_LONG } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { writeFiles } from "../harness/project.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, startServer, temporaryFolder } from "../harness/server.ts";

const PAGE = "ask-from-any-program.md";
const page = readFileSync(join(ROOT, "docs/how-to", PAGE), "utf8");
// Below the repository, so that the name of the package leads to its own sources.
const folder = mkdtempSync(join(ROOT, "test", ".work-requests-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFiles(folder, readExampleCode(PAGE));
const python = page.matchAll(/^```python\n# (\S+)\n(.*?)^```$/gms);
writeFiles(folder, Object.fromEntries([...python].map(([, name = "", code = ""]) => [name, code])));
const [, curl = ""] = /^## curl\n\n```sh\n(.*?)^```$/ms.exec(page) ?? [];
writeFileSync(join(folder, "deploy.sh"), curl);

const MAIN = join(ROOT, "packages/holdpoint/src/main.ts");
const SHELL = [MAIN, "ask", "Deploy 1.4 to production?", "--choice", "yes", "--choice", "no", "--key", "deploy-1.4"];
const PROGRAMS: Readonly<Record<string, readonly [command: string, ...args: readonly string[]]>> = {
  curl: ["bash", join(folder, "deploy.sh")],
  "holdpoint ask": [process.execPath, ...SHELL],
  Python: ["python3", join(folder, "deploy.py")],
  TypeScript: [process.execPath, join(folder, "deploy.ts")],
};

interface Relay {
  readonly url: string;
  /** Where calls go from now on. */
  readonly lead: (server: { readonly url: string }) => void;
  /** Resolves at the next call that begins so. */
  readonly seen: (start: string) => Promise<void>;
}

/** One address for servers that come and go; tells which calls arrive. */
async function startRelay(t: TestContext): Promise<Relay> {
  const arrived = new EventEmitter();
  let target = "";
  const relay = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    const onward = send(`${target}${url}`, { method, headers }, (reply: IncomingMessage) => {
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.on("error", () => incoming.socket.destroy()).pipe(outgoing);
    });
    onward.on("error", () => incoming.socket.destroy());
    incoming.pipe(onward);
    onward.on("socket", () => void arrived.emit("call", `${method} ${url}`));
  });
  await once(relay.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    relay.closeAllConnections();
    relay.close();
  });
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    lead: (server) => (target = server.url),
    seen: async (start) => {
      for (;;) {
        const [line] = (await once(arrived, "call")) as [string];
        if (line.startsWith(start)) return;
      }
    },
  };
}

function runProgram([command, ...args]: readonly [string, ...(readonly string[])], url: string) {
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"], PYTHONPATH: join(ROOT, "clients/python/src"), HOLDPOINT_URL: url },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group, so that a kill ends a shell with its programs
  });
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const exited = once(child, "exit");
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? assert.fail()), "SIGKILL");
  };
  return { printed, exited, kill };
}

interface Found {
  readonly request_id: string;
  readonly interrupt_id: string;
  readonly status: string;
  readonly answered_by?: string;
}

async function search(server: { readonly url: string }): Promise<readonly Found[]> {
  const { items } = (await call(server, "POST", "/requests/search", {})).body as { readonly items: readonly Found[] };
  return items;
}

/** Ways to answer that people have. */
const CHANNELS: readonly ((server: { readonly url: string }, asked: Found) => Promise<void>)[] = [
  async (server, { request_id: thread_id, interrupt_id }) => {
    const answers = [{ thread_id, interrupt_id, resume: "yes" }];
    const { body } = await call(server, "POST", "/inbox/answers", { by: "ann", answers });
    assert.equal((body as { results: readonly { status: string }[] }).results[0]?.status, "answered");
  },
  async (server, { interrupt_id: id }) => {
    const ended = await holdpoint(["inbox", "answer", id, "--text", "yes", "--by", "ann", "--url", server.url]);
    assert.equal(ended.code, 0, ended.err);
  },
  async (server, { request_id: id }) => {
    const { status } = await call(server, "POST", `/requests/${id}/answer`, { answer: "yes", by: "ann" });
    assert.equal(status, 200);
  },
];

for (const [index, [name, program]] of Object.entries(PROGRAMS).entries())
  test(
    `${name}: one question and one answer, through kill -9 of the program and the end of the server`,
    PATIENCE,
    async (t) => {
      const dataDir = temporaryFolder();
      t.after(() => removeFolder(dataDir));
      const relay = await startRelay(t);
      const killable = IS_LONG || index === 0 ? await startServer({ dataDir }) : null;
      const first = killable ?? (await startServerHere({ dataDir }));
      relay.lead(first);

      const killed = runProgram(program, relay.url);
      await relay.seen("GET /requests/");
      killed.kill();
      await killed.exited;

      const waiting = runProgram(program, relay.url);
      t.after(() => waiting.kill());
      await relay.seen("GET /requests/");
      await (killable === null ? first.stop() : killable.kill());
      const second = await startServerHere({ dataDir });
      t.after(() => second.stop());
      const again = relay.seen("GET /requests/");
      relay.lead(second);
      await again;

      const [asked, ...more] = await search(second);
      assert.deepEqual([asked?.status, more], ["open", []]);
      await CHANNELS[index % CHANNELS.length]?.(second, asked ?? assert.fail());
      const [out, err] = await waiting.printed;
      assert.deepEqual(await waiting.exited, [0, null], err);
      assert.equal(out.match(/yes/g)?.length, name === "curl" ? 2 : 1, out); // curl prints the request, with its schema

      const repeated = runProgram(program, relay.url);
      assert.match((await repeated.printed)[0], /yes/);
      const ended = await search(second);
      assert.deepEqual(
        ended.map(({ status, answered_by }) => [status, answered_by]),
        [["answered", "ann"]],
      );
      const entries = await readAudit(second, asked?.request_id ?? "");
      assert.equal(entries.filter(({ action }) => action === "answered").length, 1);
    },
  );

const DECISIONS: readonly (readonly [verb: string, option: string, value: string, printed: string])[] = [
  ["edit", "--set", "amount=20", "refunded 20 for 4711\n"],
  ["reject", "--message", "not today", "rejected: not today\n"],
];
for (const [command, file] of [
  ["python3", "refund.py"],
  [process.execPath, "refund.ts"],
] as const)
  for (const [name, option, value, printed] of DECISIONS)
    test(`${file}: a person decides with inbox ${name} what the function does`, PATIENCE, async (t) => {
      const server = await startServerHere();
      t.after(async () => {
        await server.stop();
        removeFolder(server.dataDir);
      });
      const relay = await startRelay(t);
      relay.lead(server);
      const program = runProgram([command, join(folder, file)], relay.url);
      t.after(() => program.kill());
      await relay.seen("GET /requests/");
      const [asked] = await search(server);
      const decided = await verb(["inbox", name, asked?.interrupt_id ?? "", option, value, "--url", server.url]);
      assert.equal(decided.code, 0, decided.err);
      assert.deepEqual(await program.printed, [printed, ""]);
    });
