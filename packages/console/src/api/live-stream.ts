// Live stream: options of a run that the page of its thread shows while it is running.

export const LIVE_STREAM = { stream_mode: ["values", "updates", "messages-tuple"], stream_resumable: true } as const;
