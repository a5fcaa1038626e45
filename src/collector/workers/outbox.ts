// Outbox: collects messages and posts them as one list at the end of the turn. A message of its own costs ten times as
// much as one more in a list.

export interface Outbox<Message> {
  /** `moved`: memory that the other thread takes. */
  readonly add: (message: Message, moved?: ArrayBuffer) => void;
  /** Posts now. */
  readonly flush: () => void;
}

interface OutboxPorts<Message> {
  readonly post: (messages: readonly Message[], moved: ArrayBuffer[]) => void;
  /** Called before each list: may add the last messages of it. */
  readonly beforePost: () => void;
}

export function createOutbox<Message>({ beforePost, post }: OutboxPorts<Message>): Outbox<Message> {
  let messages: Message[] = [];
  let moved: ArrayBuffer[] = [];
  let planned = false;

  function flush(): void {
    planned = true; // beforePost() adds to this list
    beforePost();
    planned = false;
    if (messages.length === 0) return;
    const list = messages;
    const memory = moved;
    messages = [];
    moved = [];
    post(list, memory);
  }

  return {
    add(message, memory) {
      messages.push(message);
      if (memory !== undefined) moved.push(memory);
      if (planned) return;
      planned = true;
      setImmediate(flush);
    },
    flush,
  };
}

/** The memory of a buffer, if it owns all of it. */
export function memoryOf(bytes: Uint8Array): ArrayBuffer | undefined {
  return bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.length ? bytes.buffer : undefined;
}
