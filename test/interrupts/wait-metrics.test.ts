// Metrics of waits and decisions: by graph, decision and channel, each answer that counted once; and overdue questions.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { answer, readItems } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

async function ask(payload: unknown): Promise<{ readonly thread_id: string; readonly interrupt_id: string }> {
  const thread = await newThread(server, "echo");
  await thread.run({ input: { payload } });
  const [item] = await readItems(server, thread.threadId);
  return { thread_id: thread.threadId, interrupt_id: item?.id ?? assert.fail() };
}

test("each answer that counted is counted by its decision and channel, with its wait", async () => {
  const refund = { action_requests: [{ name: "refund", args: {} }] };
  const [one, two, three, late] = [
    await ask(refund),
    await ask(refund),
    await ask("Why?"),
    await ask({ question: "Late?", expires_at: "2020-01-01T00:00:00Z" }),
  ];
  const approved = { decisions: [{ type: "approve" }] };
  await answer(server, [{ ...one, resume: approved }]);
  await answer(server, [{ ...one, resume: approved }]); // refused: it counts nothing
  await answer(server, [{ ...two, resume: { decisions: [{ type: "reject" }] } }]);
  const body = { assistant_id: "echo", command: { resume: "Because." } };
  await call(server, "POST", `/threads/${three.thread_id}/runs/wait`, body);
  const { text } = await call(server, "GET", "/metrics");
  for (const line of [
    'agent_decisions_total{graph="echo",decision="approve",channel="inbox"} 1',
    'agent_decisions_total{graph="echo",decision="reject",channel="inbox"} 1',
    'agent_decisions_total{graph="echo",decision="answer",channel="api"} 1',
    'agent_interrupt_wait_seconds_count{graph="echo"} 3',
    "agent_interrupts_overdue 1",
    "agent_interrupts_open 1",
  ])
    assert.ok(
      text.split("\n").includes(line),
      `${line}\n${text
        .split("\n")
        .filter((one) => /interrupt|decision/.test(one))
        .join("\n")}`,
    );
  assert.ok(late.interrupt_id !== "");
});
