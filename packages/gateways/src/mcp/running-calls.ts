// Running calls: the tool calls in progress in this process, so that a notification of the client can cancel one.

export interface RunningCalls {
  readonly enter: (call: CallName) => { readonly signal: AbortSignal; readonly end: () => void };
  readonly cancel: (call: CallName) => void;
}

/** A client counts its requests by itself: only session and id together name a call. */
export interface CallName {
  readonly sessionId: string | null;
  readonly requestId: string | number;
}

export function createRunningCalls(): RunningCalls {
  const running = new Map<string, AbortController>();
  const nameCall = ({ sessionId, requestId }: CallName): string | null =>
    sessionId === null ? null : JSON.stringify([sessionId, requestId]);
  return {
    enter(call) {
      const controller = new AbortController();
      const name = nameCall(call);
      if (name !== null) running.set(name, controller);
      const end = (): void => {
        if (name !== null && running.get(name) === controller) running.delete(name);
      };
      return { signal: controller.signal, end };
    },
    cancel(call) {
      const name = nameCall(call);
      if (name !== null) running.get(name)?.abort(new Error("the client cancelled the call"));
    },
  };
}
