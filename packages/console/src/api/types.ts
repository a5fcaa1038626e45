// Types: the API objects as the console reads them, derived from the contract.
import type * as z from "zod";
import type * as crons from "@holdpoint/api/crons.ts";
import type * as schemas from "@holdpoint/api/schemas.ts";
import type * as store from "@holdpoint/api/store.ts";

export type Thread = z.output<typeof schemas.thread>;
export type Run = z.output<typeof schemas.run>;
export type Interrupt = z.output<typeof schemas.interrupt>;
export type Assistant = z.output<typeof schemas.assistant>;
export type AssistantVersion = z.output<typeof schemas.assistantVersion>;
export type GraphSchemas = z.output<typeof schemas.graphSchemas>;
export type Cron = z.output<typeof crons.cron>;
/** `score` only for a semantic search. */
export type StoreItem = z.output<typeof store.item> & { readonly score?: number };
export type ThreadState = z.output<typeof schemas.state>;

/** In the library's drawing format. */
export interface Drawing {
  readonly nodes: readonly {
    readonly id: string;
    readonly type?: string;
    readonly data?: { readonly name?: string };
  }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly data?: string;
    readonly conditional?: boolean;
  }[];
}
