// Messages: a conversation in one form for all sources: LangChain's messages, the chat format of model providers,
// OpenTelemetry's parts. Pure.
// Invariants:
//   messages.1. Reading never throws: non-messages are skipped, unknown parts stay as JSON.
//   messages.2. A tool result appears with its call; one without a call appears alone.

export type Speaker = "human" | "ai" | "system" | "tool";

export interface ToolCall {
  readonly id: string | null;
  readonly name: string;
  readonly args: unknown;
  /** Undefined until it arrives. */
  readonly result: unknown;
  readonly failed: boolean;
}

export interface MessageFile {
  /** `attachment:file-1` */
  readonly reference: string;
  /** Its own name, or its media type. */
  readonly label: string;
}

export interface Message {
  readonly id: string | null;
  readonly speaker: Speaker;
  readonly name: string | null;
  readonly text: string;
  readonly reasoning: string;
  /** URLs that the page's policy allows: data: only. */
  readonly images: readonly string[];
  /** Addresses of images elsewhere, which the page does not load. */
  readonly links: readonly string[];
  /** Recordings and documents that the collector keeps apart. */
  readonly files: readonly MessageFile[];
  readonly calls: readonly ToolCall[];
  /** Parts of unknown kinds. */
  readonly others: readonly unknown[];
}

type Members = Readonly<Record<string, unknown>>;

const SPEAKERS: Readonly<Record<string, Speaker>> = {
  human: "human",
  user: "human",
  ai: "ai",
  assistant: "ai",
  model: "ai",
  AIMessageChunk: "ai",
  HumanMessageChunk: "human",
  ToolMessageChunk: "tool",
  SystemMessageChunk: "system",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

/** The list of messages in a value, under any known member name; null without one. */
export function messagesIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return isConversation(value) ? (value as readonly unknown[]) : null;
  if (!isMembers(value)) return null;
  for (const name of ["messages", "input_messages", "output_messages", "prompt", "choices", "generations"]) {
    const found = value[name];
    const list = Array.isArray(found) ? (found as readonly unknown[]).flat(1).map(unwrapped) : null;
    if (list !== null && isConversation(list)) return list;
  }
  for (const name of ["message", "output", "input"]) {
    const found = unwrapped(value[name]);
    if (isMembers(found) && isConversation([found])) return [found];
  }
  return isConversation([value]) ? [value] : null;
}

/** messages.1, messages.2. */
export function readMessages(list: readonly unknown[]): readonly Message[] {
  const results = new Map<string, { readonly content: unknown; readonly failed: boolean }>();
  const asked = new Set<string>();
  const read = list.map(unwrapped).filter(isMembers);
  for (const one of read) {
    for (const { id } of listCalls(one)) if (id !== null) asked.add(id);
    for (const [id, result] of listResults(one)) results.set(id, result);
  }
  return read.flatMap((one): Message[] => {
    const speaker = SPEAKERS[readSpeaker(one)];
    if (speaker === undefined) return [];
    const answered = listResults(one).map(([id]) => id);
    if (speaker === "tool" && answered.length > 0 && answered.every((id) => asked.has(id))) return [];
    const calls = listCalls(one).map((call): ToolCall => {
      const result = call.id === null ? undefined : results.get(call.id);
      return { ...call, result: result?.content, failed: result?.failed ?? false };
    });
    return [{ ...readContent(one), id: readMemberText(one["id"]), speaker, name: readMemberText(one["name"]), calls }];
  });
}

/** `{lc, id, kwargs}`, `{type, data}` and `{message}` wrap the message. */
function unwrapped(value: unknown): unknown {
  if (!isMembers(value)) return value;
  if (isMembers(value["kwargs"]) && Array.isArray(value["id"])) {
    const name = String(value["id"].at(-1));
    const type = name.replace(/Message(Chunk)?$/, "").toLowerCase();
    return { type, ...value["kwargs"] };
  }
  if (isMembers(value["data"]) && typeof value["type"] === "string" && "content" in value["data"])
    return { type: value["type"], ...value["data"] };
  return isMembers(value["message"]) ? unwrapped(value["message"]) : value;
}

function isConversation(list: readonly unknown[]): boolean {
  return (
    list.length > 0 &&
    list.every((one) => isMembers(unwrapped(one)) && readSpeaker(unwrapped(one) as Members) in SPEAKERS)
  );
}

function readSpeaker(message: Members): string {
  const { role, type } = message;
  return typeof role === "string" ? role : typeof type === "string" ? type : "";
}

interface Content {
  readonly text: string;
  readonly reasoning: string;
  readonly images: readonly string[];
  readonly links: readonly string[];
  readonly files: readonly MessageFile[];
  readonly others: readonly unknown[];
}

const CALL_PARTS = new Set([
  "tool_use",
  "tool_call",
  "tool-call",
  "tool_call_chunk",
  "tool_call_response",
  "tool_result",
]);

function readContent(message: Members): Content {
  const content = message["parts"] ?? message["content"];
  const extra = isMembers(message["additional_kwargs"]) ? message["additional_kwargs"]["reasoning_content"] : undefined;
  const texts: string[] = [];
  const reasoning: string[] = typeof extra === "string" ? [extra] : [];
  const images: string[] = [];
  const links: string[] = [];
  const files: MessageFile[] = [];
  const others: unknown[] = [];
  for (const part of Array.isArray(content) ? (content as readonly unknown[]) : [content]) {
    if (typeof part === "string") texts.push(part);
    else if (isMembers(part)) {
      const text = part["text"] ?? part["content"] ?? part["thinking"] ?? part["reasoning"] ?? part["refusal"];
      const type = String(part["type"]);
      const image = readImage(part);
      if (CALL_PARTS.has(type)) continue;
      const link = readImageLink(part);
      const file = readFile(part);
      if (image !== null) images.push(image);
      else if (link !== null) links.push(link);
      else if (file !== null) files.push(file);
      else if (typeof text !== "string") others.push(part);
      else (/think|reason/.test(type) ? reasoning : texts).push(text);
    } else if (part !== null && part !== undefined) others.push(part);
  }
  return { text: texts.join("\n"), reasoning: reasoning.join("\n"), images, links, files, others };
}

function readImage(part: Members): string | null {
  const { image_url: url, source } = part;
  const reference = findReference(part, PART_LEVELS_MAX);
  if (reference?.startsWith("attachment:image-") === true) return reference;
  const address = isMembers(url) ? url["url"] : url;
  if (typeof address === "string" && address.startsWith("data:image/")) return address;
  if (!isMembers(source) || typeof source["data"] !== "string" || typeof source["media_type"] !== "string") return null;
  return `data:${source["media_type"]};base64,${source["data"]}`;
}

function readImageLink({ type, url, image_url: given }: Members): string | null {
  if (type !== "image_url" && type !== "image") return null;
  const address = (isMembers(given) ? given["url"] : given) ?? url;
  return typeof address === "string" && /^https?:\/\//i.test(address) ? address : null;
}

function readFile(part: Members): MessageFile | null {
  const reference = findReference(part, PART_LEVELS_MAX);
  const names = [part["filename"], part["name"], part["title"], part["mime_type"]];
  const label = names.find((one) => typeof one === "string") ?? "without a name";
  return reference === null ? null : { reference, label };
}

const PART_LEVELS_MAX = 3;
const REFERENCE = /^attachment:(?:image|audio|video|file)-\d{1,3}$/;

/** `attachment:image-1` in a part of any dialect: the collector keeps media of traces apart. */
function findReference(part: Members, levels: number): string | null {
  for (const value of Object.values(part)) {
    if (typeof value === "string" && REFERENCE.test(value)) return value;
    const inside = isMembers(value) && levels > 1 ? findReference(value, levels - 1) : null;
    if (inside !== null) return inside;
  }
  return null;
}

type Call = Pick<ToolCall, "id" | "name" | "args">;

function listCalls(message: Members): readonly Call[] {
  const listed = Array.isArray(message["tool_calls"]) ? (message["tool_calls"] as readonly unknown[]) : [];
  const content = message["parts"] ?? message["content"];
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const inside = parts.filter((part) => isMembers(part) && /^tool(_use|_call|-call)$/.test(String(part["type"])));
  return (listed.length > 0 ? listed : inside).filter(isMembers).map(readCall);
}

function readCall(call: Members): Call {
  const { function: called } = call;
  const inner = isMembers(called) ? called : call;
  const args = inner["args"] ?? inner["arguments"] ?? inner["input"];
  return {
    id: readMemberText(call["id"]) ?? readMemberText(call["toolCallId"]),
    name: readMemberText(inner["name"]) ?? readMemberText(inner["toolName"]) ?? "tool",
    args: typeof args === "string" ? parsed(args) : args,
  };
}

/** Id of a call → its result. */
function listResults(
  message: Members,
): readonly (readonly [string, { readonly content: unknown; readonly failed: boolean }])[] {
  const failed = message["status"] === "error" || message["is_error"] === true;
  const own = readMemberText(message["tool_call_id"]);
  if (own !== null) return [[own, { content: message["content"], failed }]];
  const content = message["parts"] ?? message["content"];
  const parts = Array.isArray(content) ? (content as readonly unknown[]).filter(isMembers) : [];
  return parts.flatMap((part) => {
    const id =
      readMemberText(part["tool_use_id"]) ??
      (part["type"] === "tool_call_response" ? readMemberText(part["id"]) : null);
    if (id === null) return [];
    return [
      [
        id,
        { content: part["content"] ?? part["response"] ?? part["result"], failed: part["is_error"] === true },
      ] as const,
    ];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const readMemberText = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
