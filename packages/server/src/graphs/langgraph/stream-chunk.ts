// Stream chunk: one item of LangGraph's stream, in one form for all modes.

/** `ns` is the path of the subgraph, empty at the root. */
export interface Chunk {
  readonly ns: readonly string[];
  readonly mode: string;
  readonly payload: unknown;
}

/** `values` and `updates` show a pause as `{"__interrupt__": […]}`, with an empty list at a breakpoint. */
export function isPause(payload: unknown): boolean {
  return (
    typeof payload === "object" &&
    payload !== null &&
    Array.isArray((payload as Readonly<Record<string, unknown>>)["__interrupt__"])
  );
}
