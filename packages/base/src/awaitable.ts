// Awaitable: result types of adapter methods.

/** A local adapter returns a value, a remote one a promise. */
export type Awaitable<T> = T | Promise<T>;

/**
 * A row of a list: its id, and the size of what it holds. Lists are read in chunks of bounded size (server/context/chunks.ts).
 */
export interface SizedId<Id = string> {
  readonly id: Id;
  readonly bytes: number;
}
