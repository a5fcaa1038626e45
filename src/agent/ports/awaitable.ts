// Awaitable: result type of adapter methods.

/** A local adapter returns a value, a remote one a promise. */
export type Awaitable<T> = T | Promise<T>;
