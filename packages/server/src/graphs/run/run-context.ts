// What every run of a graph needs from the server.
import type { InterruptTx, StateTx, ThreadTx } from "../../ports/ports.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";
import type { InterruptIds } from "../langgraph/interrupt-ids.ts";
import type { Library } from "../langgraph/library.ts";

export interface RunContext {
  readonly library: Library;
  readonly codec: Codec;
  readonly ids: InterruptIds;
  readonly read: <T>(query: (tx: StateTx & InterruptTx & ThreadTx) => T | Promise<T>) => Promise<T>;
  /** The project: the stacks of its errors name paths relative to it. */
  readonly folder: string;
  /** Size of the interrupts of one task, in bytes of JSON. */
  readonly interruptBytesMax: number;
  /** The long-term store, as LangGraph's BaseStore. */
  readonly store: object;
  /** Graphs whose interrupts need more than node names for their place: their runs are watched. */
  readonly watched: WeakSet<CompiledGraph>;
  /** Nodes that ask several questions at the same time, by graph. */
  readonly concurrent: WeakMap<CompiledGraph, Set<string>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
