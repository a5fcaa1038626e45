// Recent states: which checkpoint has the state that the library has just streamed. The stream runs a little behind the
// checkpoints, and not every checkpoint is streamed; so a state is recognised by the objects it is made of.
// Invariant state-lookup.1: what is recognised as a checkpoint's state has the same value in every channel of the state.
type Values = Readonly<Record<string, unknown>>;

export interface RecentStates {
  note(checkpointId: string, channels: Values): void;
  readonly checkpointOf: (values: unknown) => string | null;
}

/** The stream is never more than a few supersteps behind. */
const STATES_MAX = 8;

/** @param outputs the channels that make up the state, or the one that is the state. */
export function createRecentStates(outputs: string | readonly string[]): RecentStates {
  const recent: { readonly checkpointId: string; readonly channels: Values }[] = [];
  const has = (channels: Values, values: unknown): boolean =>
    typeof outputs === "string"
      ? channels[outputs] === values
      : typeof values === "object" &&
        values !== null &&
        outputs.every((channel) => channels[channel] === (values as Values)[channel]); // state-lookup.1
  return {
    note(checkpointId, channels) {
      recent.push({ checkpointId, channels });
      if (recent.length > STATES_MAX) recent.shift();
    },
    checkpointOf: (values) => recent.findLast(({ channels }) => has(channels, values))?.checkpointId ?? null,
  };
}
