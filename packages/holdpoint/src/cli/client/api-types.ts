// API objects as the CLI displays them. The contract is in packages/api/src and docs/reference/traces.md.
import type { Review } from "@holdpoint/api/inbox.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

export interface InboxItem {
  readonly id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  readonly assistant_id: string;
  readonly run_id: string | null;
  readonly node: string;
  readonly kind: string;
  readonly title: string;
  readonly excerpt: string;
  readonly action: string | null;
  readonly actions: number;
  readonly dangerous: boolean;
  readonly priority: "urgent" | "high" | "normal" | "low";
  readonly created_at: string;
  readonly claim: { readonly by: string; readonly until: string | null } | null;
  readonly review?: Review;
  readonly snoozed_until?: string;
  readonly deadline: { readonly expires_at: string; readonly on_expiry: string | null } | null;
  readonly state: "open" | "answered" | "abandoned";
  readonly overdue: boolean;
  readonly metadata: JsonObject;
  readonly value: Json;
  readonly response_schema?: JsonObject;
  readonly answered?: { readonly by: string; readonly at: string; readonly run_id: string; readonly value: Json };
  readonly failed_answer?: { readonly at: string; readonly error: string; readonly message: string };
}

export interface AnswerResult {
  readonly thread_id: string;
  readonly interrupt_id: string;
  readonly status: "answered" | "pending" | "refused";
  readonly run_id?: string;
  readonly problem?: JsonObject;
}

export interface Thread {
  readonly thread_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly metadata: JsonObject;
  readonly status: string;
  readonly values?: Json;
  readonly interrupts: Readonly<Record<string, readonly { readonly id: string; readonly value: Json }[]>>;
  readonly error?: { readonly error: string; readonly message: string };
}

export interface Run {
  readonly run_id: string;
  readonly status: string;
  readonly ended_by: string | null;
  readonly created_at: string;
  readonly attempt: number;
}

export interface State {
  readonly values: Json;
  readonly next: readonly string[];
  readonly metadata: JsonObject;
  readonly created_at: string | null;
  readonly checkpoint: { readonly checkpoint_id?: string } | null;
}
