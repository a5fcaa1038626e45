// Schema version: rejects a database that a newer version wrote.

export interface Versions {
  readonly holdpoint: string;
  readonly library: string;
}

export class NewerDatabaseError extends Error {
  constructor(what: string) {
    super(`the database was written by ${what}: start that version or a newer one, or use another database`);
    this.name = "NewerDatabaseError";
  }
}

/** Compares `major.minor.patch` and ignores any suffix. */
export function compareVersions(left: string, right: string): number {
  const parts = (version: string): readonly number[] => version.split(/[.+-]/).slice(0, 3).map(Number);
  const [a, b] = [parts(left), parts(right)];
  for (let at = 0; at < 3; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
