// Lock keys: names of advisory locks. PostgreSQL takes their hash, so that statements can lock what they find; two names
// with one hash wait for each other, which does no harm.

/** Every transaction that changes a thread or its rows holds this lock until its commit. */
export const threadKey = (threadId: string): string => `thread ${threadId}`;

/** The same for a column of thread ids, as the number that PostgreSQL's lock functions take. */
export const threadLockSql = (column: string): string => `hashtextextended('thread ' || ${column}, 0)`;

export const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
