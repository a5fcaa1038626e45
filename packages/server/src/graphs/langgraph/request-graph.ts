// Request graph: the built-in graph of requests. One node asks, and keeps the answer.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { REQUEST_GRAPH } from "../../model/built-in-assistant.ts";
import type { AskedQuestion } from "../../model/request.ts";
import type { GraphRunResult, OpenInterrupt } from "../../ports/ports.ts";
import type { Library } from "./library.ts";

/** A graph of the project's copy of LangGraph, like those of the deployment. */
export function buildRequestGraph({ langgraph }: Library): unknown {
  const { Annotation, END, START, StateGraph, interrupt } = langgraph;
  const State = Annotation.Root({ request: Annotation<AskedQuestion>(), answer: Annotation<unknown>() });
  return new StateGraph(State)
    .addNode("person", ({ request }) => ({ answer: interrupt<unknown, unknown>(request.payload) }))
    .addEdge(START, "person")
    .addEdge("person", END)
    .compile();
}

/** Gives the question the schema that its caller sent: it does not pass through the library, whose versions differ. */
export function withRequestSchema(result: GraphRunResult, graphId: string): GraphRunResult {
  const { outcome } = result;
  if (graphId !== REQUEST_GRAPH || outcome.kind !== "question") return result;
  const { request } = outcome.values as { readonly request: AskedQuestion };
  const responseSchema: JsonObject | null = request.schema;
  const interrupts = outcome.interrupts.map((one): OpenInterrupt => ({ ...one, responseSchema }));
  return { ...result, outcome: { ...outcome, interrupts } };
}
