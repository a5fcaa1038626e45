// The sample help-desk on a server of its own, with the agent that it calls on another one. Checked:
//   a2a-example.1. The help desk gets the decision of the person, and the refund is paid once.
//   a2a-example.2. A kill of either server while the person decides changes nothing.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, startServer } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";

const config = join(ROOT, "examples", "langgraph.json");

interface Item {
  readonly id: string;
  readonly thread_id: string;
}

async function waiting(server: ServerHere): Promise<readonly Item[]> {
  const { body } = await call(server, "GET", "/inbox?graph_id=refund-approval");
  return (body as { readonly items: readonly Item[] }).items;
}

test(
  "an agent waits with the agent it calls, over the decision of a person and two kills (a2a-example.1, a2a-example.2)",
  PATIENCE,
  async (t) => {
    const first = { desk: await startServer({ config }), refunds: await startServer({ config }) };
    for (const server of [first.desk, first.refunds]) {
      t.after(() => removeFolder(server.dataDir));
      t.after(() => server.kill());
    }
    const { url } = first.refunds;
    const context = { refunds_url: url };
    const { body } = await call(first.desk, "POST", "/assistants", { graph_id: "help-desk", context });
    const { assistant_id } = body as { readonly assistant_id: string };
    const input = { messages: [{ role: "user", content: "Order 4711 arrived broken." }] };
    const start = { assistant_id, input, on_completion: "keep" };
    const { body: run } = await call(first.desk, "POST", "/runs", start);
    const { thread_id, run_id } = run as { readonly thread_id: string; readonly run_id: string };
    const isAsked = async () => (await waiting(first.refunds)).length === 1 || undefined;
    await followLog(first.refunds, "the person is asked", isAsked);

    await first.desk.kill();
    const desk = await startServerHere({ config, dataDir: first.desk.dataDir });
    t.after(() => desk.stop());
    await first.refunds.kill();
    const env = { PORT: new URL(url).port };
    const refunds = await startServerHere({ config, dataDir: first.refunds.dataDir, env });
    t.after(() => refunds.stop());

    const [item, ...more] = await waiting(refunds);
    assert.equal(more.length, 0, "the repeated message starts no second task");
    const resume = { decisions: [{ type: "approve" }] };
    await call(refunds, "POST", "/inbox/answers", [{ thread_id: item?.thread_id, interrupt_id: item?.id, resume }]);
    const { text } = await call(desk, "GET", `/threads/${thread_id}/runs/${run_id}/join`);
    assert.match(text, /The refunds agent says: Your refund is on its way\./);
    const { text: state } = await call(refunds, "GET", `/threads/${item?.thread_id}/state`);
    assert.equal(state.match(/Paid back/g)?.length, 1);
    assert.equal((await waiting(refunds)).length, 0);
  },
);
