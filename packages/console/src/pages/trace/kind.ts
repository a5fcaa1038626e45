// Kind: the type of work of a span, with its symbol and colour. Pure.
import type { SpanSummary } from "@holdpoint/api/traces/traces.ts";

export interface Kind {
  readonly name: string;
  /** A CSS variable. */
  readonly tone: "violet" | "green" | "accent" | "amber" | "muted";
  /** One symbol. */
  readonly sign: string;
}

const CHAIN: Kind = { name: "chain", tone: "muted", sign: "›" };

const KINDS: Readonly<Record<string, Kind>> = {
  llm: { name: "model", tone: "violet", sign: "✦" },
  tool: { name: "tool", tone: "green", sign: "⚒" },
  retriever: { name: "retriever", tone: "accent", sign: "⌕" },
  embedding: { name: "embedding", tone: "accent", sign: "≈" },
  prompt: { name: "prompt", tone: "accent", sign: "¶" },
  parser: { name: "parser", tone: "accent", sign: "⎇" },
  chain: CHAIN,
};

export function classifySpan({ run_type: type, name, parent_run_id: parent }: SpanSummary): Kind {
  if (type !== undefined && type !== "chain") return KINDS[type] ?? CHAIN;
  if (name?.startsWith("wait ") === true) return { name: "human wait", tone: "amber", sign: "‖" };
  return parent === undefined ? { name: "run", tone: "accent", sign: "◆" } : CHAIN;
}
