// The parts of the official client, whose types read-surface.ts reads.
import type { Client } from "@langchain/langgraph-sdk";

export declare const assistants: Client["assistants"];
export declare const threads: Client["threads"];
export declare const runs: Client["runs"];
export declare const crons: Client["crons"];
export declare const store: Client["store"];
export declare const stream: ReturnType<Client["threads"]["stream"]>;
