// Message codec: LangChain's message classes ↔ flat records, one class per pair of type and chunk, and no other.
import type * as Messages from "@langchain/core/messages";

type Fields = Readonly<Record<string, unknown>>;

export interface MessageCodec {
  isMessage(value: object): value is Messages.BaseMessage;
  /** The fields that rebuild the message. */
  listFields(message: Messages.BaseMessage): Fields;
  /** The form for clients: `{type, content, id, …}`; a chunk has the type of its message. */
  toClientJson(message: Messages.BaseMessage): Fields;
  create(fields: Fields): Messages.BaseMessage;
}

const KEPT = [
  "content",
  "id",
  "name",
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
  "metadata",
  "role",
] as const;

export function createMessageCodec(library: typeof Messages): MessageCodec {
  const classes: Readonly<Record<string, new (fields: never) => Messages.BaseMessage>> = {
    human: library.HumanMessage,
    ai: library.AIMessage,
    system: library.SystemMessage,
    tool: library.ToolMessage,
    function: library.FunctionMessage,
    generic: library.ChatMessage,
    remove: library.RemoveMessage,
    "human+": library.HumanMessageChunk,
    "ai+": library.AIMessageChunk,
    "system+": library.SystemMessageChunk,
    "tool+": library.ToolMessageChunk,
    "function+": library.FunctionMessageChunk,
    "generic+": library.ChatMessageChunk,
  };
  const kept = (message: Messages.BaseMessage): Record<string, unknown> => {
    const fields: Record<string, unknown> = {};
    for (const name of KEPT) {
      const value = (message as unknown as Fields)[name];
      if (value !== undefined) fields[name] = value;
    }
    return fields;
  };
  const chunk = (message: Messages.BaseMessage): boolean => library.isBaseMessageChunk(message);
  return {
    isMessage: (value): value is Messages.BaseMessage => library.BaseMessage.isInstance(value),
    listFields: (message) => ({
      type: message.getType(),
      ...(chunk(message) ? { chunk: true } : {}),
      ...kept(message),
    }),
    toClientJson: (message) => ({ ...kept(message), type: message.getType() }),
    create({ type, chunk: isChunk, ...fields }) {
      const name = `${String(type)}${isChunk === true ? "+" : ""}`;
      // a stored name must not reach Object's own members
      const create = Object.hasOwn(classes, name) ? classes[name] : undefined;
      if (create === undefined) throw new Error(`unknown stored message type ${String(type)}`);
      return new create(fields as never);
    },
  };
}
