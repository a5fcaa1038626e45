// The sample help-desk on a server of its own, with the agent that it calls on another one. Checked:
//   a2a-example.1. The help desk gets the decision of the person, and the refund is paid once.
//   a2a-example.2. A kill of either server while the person decides changes nothing.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, ROOT, startServer, type TestServer } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";

const config = join(ROOT, "examples", "langgraph.json");

interface Item {
  readonly id: string;
  readonly thread_id: string;
}

async function waiting(server: TestServer): Promise<readonly Item[]> {
  const { body } = await call(server, "GET", "/inbox?graph_id=refund-approval");
  return (body as { readonly items: readonly Item[] }).items;
}

test(
  "an agent waits with the agent it calls, over the decision of a person and two kills (a2a-example.1, a2a-example.2)",
  PATIENCE,
  async () => {
    let desk = await startServer({ config });
    let refunds = await startServer({ config });
    const port = new URL(refunds.url).port;
    try {
      const context = { refunds_url: refunds.url };
      const { body } = await call(desk, "POST", "/assistants", { graph_id: "help-desk", context });
      const { assistant_id } = body as { readonly assistant_id: string };
      const input = { messages: [{ role: "user", content: "Order 4711 arrived broken." }] };
      const start = { assistant_id, input, on_completion: "keep" };
      const { body: run } = await call(desk, "POST", "/runs", start);
      const { thread_id, run_id } = run as { readonly thread_id: string; readonly run_id: string };
      await followLog(refunds, "the person is asked", async () => (await waiting(refunds)).length === 1 || undefined);

      await desk.kill();
      desk = await startServer({ config, dataDir: desk.dataDir });
      await refunds.kill();
      refunds = await startServer({ config, dataDir: refunds.dataDir, env: { PORT: port } });

      const [item, ...more] = await waiting(refunds);
      assert.equal(more.length, 0, "the repeated message starts no second task");
      const resume = { decisions: [{ type: "approve" }] };
      await call(refunds, "POST", "/inbox/answers", [{ thread_id: item?.thread_id, interrupt_id: item?.id, resume }]);
      const { text } = await call(desk, "GET", `/threads/${thread_id}/runs/${run_id}/join`);
      assert.match(text, /The refunds agent says: Your refund is on its way\./);
      const { text: state } = await call(refunds, "GET", `/threads/${item?.thread_id}/state`);
      assert.equal(state.match(/Paid back/g)?.length, 1);
      assert.equal((await waiting(refunds)).length, 0);
    } finally {
      for (const server of [desk, refunds]) {
        await server.stop();
        removeFolder(server.dataDir);
      }
    }
  },
);
