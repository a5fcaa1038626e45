// `holdpoint serve` and `holdpoint dev` as a reader starts them: the rules of pauses, one by one, on default settings,
// over plain HTTP. Only the port is set.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort } from "../harness/postgres/free-port.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const GRAPHS = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  ask: Annotation(),
  answer: Annotation(),
  visited: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
});
const visit = (name) => () => ({ visited: [name] });
const steps = () =>
  new StateGraph(State)
    .addNode("first", visit("first"))
    .addNode("second", visit("second"))
    .addNode("third", visit("third"))
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", "third")
    .addEdge("third", END);

export const human = new StateGraph(State)
  .addNode("human_node", ({ ask }) => ({ answer: { given: interrupt(ask) } }))
  .addEdge(START, "human_node")
  .addEdge("human_node", END)
  .compile();
export const twice = new StateGraph(State)
  .addNode("human_node", () => ({ answer: [interrupt("one"), interrupt("two")] }))
  .addEdge(START, "human_node")
  .addEdge("human_node", END)
  .compile();
export const plain = steps().compile();
export const built = steps().compile({ interruptBefore: ["second"], interruptAfter: ["second"] });
`;

type Json = Readonly<Record<string, unknown>>;

/** One of each kind, and those that are easily taken for nothing. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1.5,
  9_007_199_254_740_991,
  "",
  "yes",
  "„ja“ 👍\u0000",
  [],
  [null],
  {},
  { text: { nested: [1, "two", null] } },
  { resume: "inside" },
  { __interrupt__: [] },
  { type: "accept", args: null },
];

for (const command of ["serve", "dev"] as const)
  describe(`holdpoint ${command}`, () => {
    const folder = temporaryFolder();
    let url = "";
    let child: ChildProcess;

    before(async () => {
      const graphs = Object.fromEntries(
        ["human", "twice", "plain", "built"].map((name) => [name, `./graphs.mjs:${name}`]),
      );
      writeFileSync(join(folder, "package.json"), "{}");
      writeFileSync(join(folder, "graphs.mjs"), GRAPHS);
      writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs }));
      symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules")); // as npm install would
      const port = await freePort();
      child = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), command], {
        cwd: folder,
        env: { PATH: process.env["PATH"], PORT: String(port) },
        stdio: ["ignore", "pipe", "pipe"],
      });
      url = `http://127.0.0.1:${port}`;
      let output = "";
      const listens = new Promise<void>((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr])
          stream?.on("data", (chunk: Buffer) => {
            output += chunk.toString();
            if (output.includes(`127.0.0.1:${port}`)) resolve();
          });
        child.once("exit", () => reject(new Error(`it ended:\n${output}`)));
      });
      await listens;
    });
    after(async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      removeFolder(folder);
    });

    async function post(path: string, body: unknown): Promise<Json> {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as Json;
    }
    const newThread = async (): Promise<string> => String((await post("/threads", {}))["thread_id"]);
    const wait = (threadId: string, request: Json): Promise<Json> => post(`/threads/${threadId}/runs/wait`, request);
    const visited = ({ visited: nodes }: Json): unknown => nodes;

    for (const value of VALUES)
      test(`a pause shows the value ${JSON.stringify(value)}, and its answer comes back as it was given`, async () => {
        const thread = await newThread();
        const paused = await wait(thread, { assistant_id: "human", input: { ask: value } });
        const [shown, ...others] = paused["__interrupt__"] as readonly Json[];
        assert.equal(others.length, 0);
        assert.deepEqual(shown?.["value"], value);
        assert.deepEqual([shown?.["resumable"], shown?.["when"]], [true, "during"]);
        const ns = shown?.["ns"] as readonly string[];
        assert.equal(ns.length, 1);
        assert.match(ns[0] ?? "", /^human_node:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        const done = await wait(thread, { assistant_id: "human", command: { resume: value } });
        assert.deepEqual(done["answer"], { given: value });
        assert.ok(!("__interrupt__" in done));
      });

    test("a node that asks twice gets both answers, in order", async () => {
      const thread = await newThread();
      const values = async (request: Json): Promise<unknown> => {
        const result = await wait(thread, { assistant_id: "twice", ...request });
        return (result["__interrupt__"] as readonly Json[] | undefined)?.map(({ value }) => value) ?? result["answer"];
      };
      assert.deepEqual(await values({ input: {} }), ["one"]);
      assert.deepEqual(await values({ command: { resume: null } }), ["two"]);
      assert.deepEqual(await values({ command: { resume: false } }), [null, false]);
    });

    for (const [form, resume] of [
      ["null", { input: null }],
      ["omitted", {}],
    ] as const) {
      test(`breakpoints of the graph: before and after a node; input ${form} goes on to the next, and to the end`, async () => {
        const thread = await newThread();
        const go = async (request: Json): Promise<unknown> =>
          visited(await wait(thread, { assistant_id: "built", ...request }));
        assert.deepEqual(await go({ input: { ask: 1 } }), ["first"]);
        assert.deepEqual(await go(resume), ["first", "second"]);
        assert.deepEqual(await go(resume), ["first", "second", "third"]);
      });

      test(`breakpoints of a run change at each call; input ${form}`, async () => {
        const thread = await newThread();
        const go = async (request: Json): Promise<unknown> =>
          visited(await wait(thread, { assistant_id: "plain", ...request }));
        assert.deepEqual(await go({ input: { ask: 1 }, interrupt_after: ["first"] }), ["first"]);
        assert.deepEqual(await go({ ...resume, interrupt_before: ["third"] }), ["first", "second"]);
        assert.deepEqual(await go({ ...resume, interrupt_after: ["third"] }), ["first", "second", "third"]);
        const other = await newThread();
        const whole = await wait(other, { assistant_id: "plain", input: { ask: 1 } });
        assert.deepEqual(visited(whole), ["first", "second", "third"]);
      });
    }
  });
