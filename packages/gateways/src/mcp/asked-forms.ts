// Asked forms: the proof that this server showed this caller a form about an interrupt. Ids of requests and states that
// travel through the client can be made up, so a reply alone proves nothing.
import { hash } from "node:crypto";

/** Marks that expire, in the storage of the server: any process finds them, also after a restart. */
export interface Marks {
  readonly put: (mark: string) => Promise<void>;
  readonly has: (mark: string) => Promise<boolean>;
}

export interface AskedForms {
  /** Before the form leaves. */
  readonly note: (interruptId: string) => Promise<void>;
  readonly has: (interruptId: string) => Promise<boolean>;
}

/** @param caller name of the caller; `""` without authentication */
export function createAskedForms(marks: Marks, caller: string): AskedForms {
  const nameMark = (interruptId: string): string => hash("sha256", `asked ${interruptId} ${caller}`);
  return {
    note: (interruptId) => marks.put(nameMark(interruptId)),
    has: (interruptId) => marks.has(nameMark(interruptId)),
  };
}

export const NOT_ASKED = "This server did not show you a form about it: call the tool again, or answer at its link.";
