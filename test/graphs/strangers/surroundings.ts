// A graph that returns its environment: in the process, in a child process and in a worker thread.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { execFileSync } from "node:child_process";
import { Worker } from "node:worker_threads";

type Environment = Record<string, string | undefined>;

const State = Annotation.Root({
  loaded: Annotation<Environment>(),
  here: Annotation<Environment>(),
  child: Annotation<Environment>(),
  thread: Annotation<Environment>(),
});

const loaded = { ...process.env };
const TELL = "JSON.stringify(process.env)";

async function tell(): Promise<typeof State.Update> {
  const child = JSON.parse(execFileSync(process.execPath, ["-p", TELL], { encoding: "utf8" })) as Environment;
  const worker = new Worker(`require("node:worker_threads").parentPort.postMessage(${TELL})`, { eval: true });
  const thread = await new Promise<string>((resolve) => worker.once("message", resolve));
  return { loaded, here: { ...process.env }, child, thread: JSON.parse(thread) as Environment };
}

export const graph = new StateGraph(State).addNode("tell", tell).addEdge(START, "tell").addEdge("tell", END).compile();
