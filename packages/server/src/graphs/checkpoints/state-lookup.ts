// State lookup: finds the checkpoint of a streamed state. The stream is slightly behind the checkpoints, and some
// checkpoints are never streamed; therefore the lookup compares the objects of the state.
// Invariant state-lookup.1: a match has the same object in every channel of the state.
type Values = Readonly<Record<string, unknown>>;

export interface RecentStates {
  note(checkpointId: string, channels: Values): void;
  readonly findCheckpoint: (values: unknown) => string | null;
}

/** The stream is at most a few supersteps behind. */
const STATES_MAX = 8;

/** @param outputs the channels of the state, or the one channel that is the state */
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
    findCheckpoint: (values) => recent.findLast(({ channels }) => has(channels, values))?.checkpointId ?? null,
  };
}
