// Awaitable: what an adapter answers.

/** An adapter in the same process answers at once, a remote one later. */
export type Awaitable<T> = T | Promise<T>;
