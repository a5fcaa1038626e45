// node seed.mjs <address of a database>: threads in each kind of pause, and two items of the store. Prints what is open.
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import { Command } from "@langchain/langgraph";
import { builder } from "./graph.mjs";

const [, , uri] = process.argv;
const saver = PostgresSaver.fromConnString(uri);
await saver.setup();
const store = PostgresStore.fromConnString(uri);
await store.setup();
const graph = builder.compile({ checkpointer: saver });

const THREADS = {
  once: "0199c0de-0000-7000-8000-000000000001",
  twice: "0199c0de-0000-7000-8000-000000000002",
  beside: "ticket-7",
  below: "0199c0de-0000-7000-8000-000000000004",
  plain: "0199c0de-0000-7000-8000-000000000005",
};
for (const [way, thread_id] of Object.entries(THREADS)) await graph.invoke({ way }, { configurable: { thread_id } });
const at = (way) => ({ configurable: { thread_id: THREADS[way] } });
await graph.invoke(new Command({ resume: "to the first" }), at("twice"));
const side = await graph.getState(at("beside"));
const left = side.tasks.flatMap(({ interrupts }) => interrupts).find(({ value }) => value.question === "left");
await graph.invoke(new Command({ resume: { [left.id]: "to the left" } }), at("beside"));

await store.put(["users", "ann"], "likes", { colour: "blue" });
await store.put(["users"], "count", { n: 2 });

const threads = [];
for (const [way, id] of Object.entries(THREADS)) {
  const history = [];
  for await (const { config } of graph.getStateHistory(at(way))) history.push(config.configurable.checkpoint_id);
  const { tasks } = await graph.getState(at(way));
  const open = tasks.filter((task) => task.result === undefined).flatMap(({ interrupts }) => interrupts);
  threads.push({ way, id, history, open: open.map(({ id: interrupt, value }) => ({ interrupt, value })) });
}
process.stdout.write(JSON.stringify(threads));
await store.stop();
await saver.end();
