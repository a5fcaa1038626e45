// Message events: the tokens of chat models → the events of stream mode `messages`.
// messages/metadata announces a message, messages/partial has all of it so far, and messages/complete the whole once it
// is in the state.
import type { BaseMessage, BaseMessageChunk } from "@langchain/core/messages";
import type { Library } from "../langgraph/library.ts";

export interface MessageEvents {
  token(message: unknown, metadata: unknown): void;
  state(values: unknown): void;
}

export function createMessageEvents(
  { messages }: Pick<Library, "messages">,
  emit: (name: string, payload: unknown) => void,
): MessageEvents {
  const growing = new Map<string, BaseMessageChunk>();
  const complete = new Set<string>();
  const isMessage = (value: unknown): value is BaseMessage => messages.BaseMessage.isInstance(value);
  return {
    token(message, metadata) {
      if (!isMessage(message) || !messages.isBaseMessageChunk(message) || message.id === undefined) return;
      const before = growing.get(message.id);
      if (before === undefined) emit("messages/metadata", { [message.id]: { metadata } });
      const sofar = before === undefined ? message : before.concat(message);
      growing.set(message.id, sofar);
      emit("messages/partial", [sofar]);
    },
    state(values) {
      if (typeof values !== "object" || values === null || !("messages" in values)) return;
      const list = Array.isArray(values.messages) ? (values.messages as unknown[]) : [values.messages];
      const fresh: BaseMessage[] = [];
      for (const message of list) {
        if (!isMessage(message) || message.id === undefined || complete.has(message.id)) continue;
        complete.add(message.id);
        growing.delete(message.id);
        fresh.push(message);
      }
      if (fresh.length > 0) emit("messages/complete", fresh);
    },
  };
}
