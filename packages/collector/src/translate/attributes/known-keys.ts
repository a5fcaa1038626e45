// Known keys: every attribute name that translation knows. Each has a slot number, so one map lookup sorts an attribute
// and every rule reads its sources by index.
// Invariants:
//   - A bounded cache keeps the plan of each name, so that spans do not parse it again.
//   - An index in a name is at most INDEX_MAX, so `x.4000000000.y` cannot create a list of that length.
//   - Sources of one list are aliases: equal values of them are one piece of information.
//   - Each name knows its lists: a span marks the lists of its attributes, so the cost of a span follows its own
//     attributes, not the number of known names.

/** Sources of one target. */
export interface Sources {
  /** Slot numbers, best first. */
  readonly slots: readonly number[];
  /** Number of the list. Equal lists have one number. */
  readonly list: number;
}

/** Names of the form `<family>.N.rest` or `<family>.rest`, collected as lists. */
const FAMILIES = {
  prompt: { prefix: "gen_ai.prompt.", indexed: true },
  completion: { prefix: "gen_ai.completion.", indexed: true },
  inputMessages: { prefix: "llm.input_messages.", indexed: true },
  outputMessages: { prefix: "llm.output_messages.", indexed: true },
  prompts: { prefix: "llm.prompts.", indexed: true },
  choices: { prefix: "llm.choices.", indexed: true },
  embeddings: { prefix: "embedding.embeddings.", indexed: true },
  documents: { prefix: "retrieval.documents.", indexed: true },
  rerankInput: { prefix: "reranker.input_documents.", indexed: true },
  rerankOutput: { prefix: "reranker.output_documents.", indexed: true },
  tools: { prefix: "llm.tools.", indexed: true },
  functions: { prefix: "llm.request.functions.", indexed: true },
  metadata: { prefix: "langsmith.metadata.", indexed: false },
  association: { prefix: "traceloop.association.properties.", indexed: false },
  telemetry: { prefix: "ai.telemetry.metadata.", indexed: false },
  context: { prefix: "ai.settings.context.", indexed: false },
  observation: { prefix: "langfuse.observation.metadata.", indexed: false },
  trace: { prefix: "langfuse.trace.metadata.", indexed: false },
  langfuse: { prefix: "langfuse.metadata.", indexed: false },
  mastra: { prefix: "mastra.metadata.", indexed: false },
  laminar: { prefix: "lmnr.association.properties.metadata.", indexed: false },
  settings: { prefix: "ai.settings.", indexed: false },
  request: { prefix: "gen_ai.request.", indexed: false },
  raw: { prefix: "llm.", indexed: false },
} as const satisfies Record<string, { readonly prefix: string; readonly indexed: boolean }>;

export type Family = keyof typeof FAMILIES;
export const FAMILY_NAMES = Object.keys(FAMILIES) as readonly Family[];

export interface KeyPlan {
  /** −1: no rule names this key. */
  readonly slot: number;
  /** Numbers of the lists that have the slot. */
  readonly lists: readonly number[];
  readonly family: Family | null;
  /** −1 in families without an index. */
  readonly index: number;
  /** The part after the family's prefix (and index). */
  readonly rest: string;
  /** Several names have this slot: of a span's, the first one with a value gets it. */
  readonly shared: boolean;
  /** The name alone says that the span is about generative AI. */
  readonly genAi: boolean;
}

export const INDEX_MAX = 4095;
const REMEMBERED_MAX = 8192;
const REMEMBERED_CHARS_MAX = 256;

const slots = new Map<string, number>();
const plans = new Map<string, KeyPlan>();

/** By slot: the lists of aliases that have it. */
const aliasLists: Set<Sources>[] = [];
const aliases: ReadonlySet<number>[] = [];
const lists = new Map<string, Sources>();
const listsOfSlots: number[][] = [];

/** The rule tables call it while modules load; afterwards the numbers never change. */
export function sources(...names: readonly string[]): Sources {
  const list = signs(...names);
  for (const slot of list.slots) (aliasLists[slot] ??= new Set()).add(list);
  return list;
}

/** Names whose presence counts, and that are no aliases of each other. */
export function signs(...names: readonly string[]): Sources {
  return findList(
    names.map((name) => {
      const slot = slots.get(name) ?? slots.size;
      slots.set(name, slot);
      return slot;
    }),
  );
}

/** One list of all slots of several. */
export function union(...several: readonly Sources[]): Sources {
  return findList(several.flatMap((one) => one.slots));
}

/** Equal lists are one list. */
function findList(members: readonly number[]): Sources {
  const name = members.join();
  const known = lists.get(name);
  if (known !== undefined) return known;
  const made = { slots: members, list: lists.size };
  lists.set(name, made);
  for (const slot of new Set(members)) (listsOfSlots[slot] ??= []).push(made.list);
  return made;
}

/** Slots with the same meaning as this one, itself included. */
export function listAliases(slot: number): ReadonlySet<number> {
  return (aliases[slot] ??= new Set([...(aliasLists[slot] ?? [])].flatMap(({ slots: all }) => all)));
}

/** For tests: every name that a rule reads. */
export function knownNames(): readonly string[] {
  return [
    ...slots.keys(),
    ...Object.values(FAMILIES).map(({ prefix, indexed }) => `${prefix}${indexed ? "0.x" : "x"}`),
  ];
}

export function slotCount(): number {
  return slots.size;
}

export function listCount(): number {
  return lists.size;
}

export function findPlan(key: string): KeyPlan {
  const known = plans.get(key);
  if (known !== undefined) return known;
  const plan = makePlan(key);
  if (key.length <= REMEMBERED_CHARS_MAX) {
    if (plans.size >= REMEMBERED_MAX) plans.clear();
    plans.set(key, plan);
  }
  return plan;
}

function makePlan(key: string): KeyPlan {
  const own = slots.get(key);
  const slot = own ?? slots.get(key.replace(ANY_TYPE, "mastra.*.$1")) ?? -1;
  const shared = own === undefined && slot >= 0;
  const lists = listsOfSlots[slot] ?? [];
  const genAi = GEN_AI_PREFIXES.some((prefix) => key.startsWith(prefix));
  for (const family of FAMILY_NAMES) {
    const { prefix, indexed } = FAMILIES[family];
    if (!key.startsWith(prefix) || key.length === prefix.length) continue;
    const rest = key.slice(prefix.length);
    if (family === "raw" && (slot >= 0 || !RAW.test(rest))) continue;
    if (!indexed) return { slot, lists, family, index: -1, rest, shared, genAi };
    const match = /^(\d{1,9})(?:\.(.+))?$/s.exec(rest);
    if (match === null || Number(match[1]) > INDEX_MAX) continue;
    return { slot, lists, family, index: Number(match[1]), rest: match[2] ?? "", shared, genAi };
  }
  return { slot, lists, family: null, index: -1, rest: "", shared, genAi };
}

/** Provider and member of a request or a response of LiteLLM's. */
const RAW = /^[\w-]+\.\w+$/;

/** Span types of Mastra that are newer than its table (mastra-types.ts). */
const ANY_TYPE = /^mastra\.\w+\.(input|output)$/;

const GEN_AI_PREFIXES: readonly string[] = [
  "gen_ai.",
  "langsmith.",
  "llm.",
  "ai.",
  "openinference.",
  "traceloop.",
  "embedding.",
  "retrieval.",
  "reranker.",
  "gcp.vertex.agent.",
  "pydantic_ai.",
  "langfuse.",
  "genkit:",
  "mlflow.",
  "lk.",
  "mcp.",
  "mastra.",
  "haystack.",
  "spring.ai.",
  "crewai.",
  "openlit.",
  "braintrust.",
  "agentops.",
  "koog.",
  "lmnr.",
  "langwatch.",
];

/** Instrumentation scopes whose spans belong to an agent's trace even without such an attribute. */
const GEN_AI_SCOPES: readonly string[] = [
  "ai",
  "pydantic-ai",
  "gcp.vertex.agent",
  "genkit-tracer",
  "openinference",
  "agent_framework",
  "Experimental.Microsoft.Extensions.AI",
  "Microsoft.SemanticKernel",
  "strands-agents",
  "strands.telemetry",
  "com.anthropic.claude_code",
  "livekit-agents",
  "langsmith",
  "langfuse-sdk",
];

const GEN_AI_NAMES = /^(?:gen_ai|langsmith|llm|ai|claude_code)\./;

export function isGenAiScope(name: string): boolean {
  return GEN_AI_SCOPES.some((scope) => name.startsWith(scope) && /^(?:$|[._\-:/])/.test(name.slice(scope.length)));
}

export function isGenAiName(name: string): boolean {
  return GEN_AI_NAMES.test(name);
}
