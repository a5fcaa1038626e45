// Access changes: tells open streams of this process that the credentials of a caller may have ended.
import { EventEmitter } from "node:events";
import type { AccessChanges } from "../ports/ports.ts";

export function createAccessChanges(): AccessChanges {
  const changes = new EventEmitter();
  changes.setMaxListeners(0); // one for each open stream
  const topic = (name: string): string => `caller ${name}`; // an event called "error" would throw
  return {
    ended: (name) => void changes.emit(topic(name)),
    onEnded(name, callback) {
      changes.on(topic(name), callback);
      return () => void changes.off(topic(name), callback);
    },
  };
}
