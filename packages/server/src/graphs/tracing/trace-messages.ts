// Trace messages: LangChain's messages → the messages of OpenTelemetry's conventions, `{role, parts}`.

export interface TracedMessage {
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly tool_call_id?: string;
  readonly usage_metadata?: { readonly input_tokens?: number; readonly output_tokens?: number };
  readonly response_metadata?: Readonly<Record<string, unknown>>;
  /** Absent in messages that are plain objects. */
  _getType?(): string;
}

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

export function traceMessages(messages: readonly TracedMessage[]): unknown {
  return messages.map((message) => {
    const type = message._getType?.() ?? "user";
    return { role: ROLES[type] ?? type, parts: [...contentParts(message), ...callParts(message)] };
  });
}

function contentParts({ content, tool_call_id: callId }: TracedMessage): readonly unknown[] {
  if (callId !== undefined) return [{ type: "tool_call_response", id: callId, response: content }];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", content }];
  if (!Array.isArray(content)) return [];
  return content.map((part: unknown) => {
    const isText = typeof part === "object" && part !== null && "text" in part && typeof part.text === "string";
    return isText ? { type: "text", content: part.text } : part;
  });
}

function callParts({ tool_calls: calls = [] }: TracedMessage): readonly unknown[] {
  return calls.map(({ id, name, args }) => ({ type: "tool_call", id, name, arguments: args }));
}
