// How much the random tests play, by form: what docs/concepts/guarantees.md says of `npm run histories` is compared with
// these numbers (planted-faults.test.ts).
//   short: `npm test`, `npm run test:rest`; long: `npm run test:long`; histories: HOLDPOINT_HISTORIES=<rounds>;
//   full: HOLDPOINT_FAULTS=full.

export interface Sizes {
  /** Starts, answers, cancellations and deletions, on SQLite; `cutRounds` on PostgreSQL. */
  readonly threads: Readonly<Record<"rounds" | "cutRounds" | "threads" | "clients" | "calls", number>>;
  /** `width` requests a round; `sharedRounds` on two servers. */
  readonly requests: Readonly<Record<"rounds" | "sharedRounds" | "width", number>>;
  readonly questions: Readonly<Record<"count" | "clients" | "calls", number>>;
  /** Random histories under review rules. */
  readonly reviews: number;
  /** Seeds of the programs that ask. */
  readonly programs: readonly number[];
  /** Seeds of the simulated database, and how many of them are played twice. */
  readonly simulation: Readonly<Record<"seeds" | "repeated", number>>;
}

/** Programs that together have every kind of step and node. */
const PROGRAMS = [13, 68, 109, 110, 113, 150];

export function readSizes(env: Readonly<Record<string, string | undefined>> = process.env): Sizes {
  const isFull = env["HOLDPOINT_FAULTS"] === "full";
  const isLong = env["HOLDPOINT_FAULTS"] !== undefined;
  const rounds = Number(env["HOLDPOINT_HISTORIES"] ?? 2);
  return {
    threads: isFull
      ? { rounds: 60, cutRounds: 60, threads: 12, clients: 4, calls: 5 }
      : { rounds, cutRounds: Math.ceil(rounds / 2), threads: 4, clients: 3, calls: 6 },
    requests: isFull
      ? { rounds: 10, sharedRounds: 4, width: 50 }
      : { rounds: isLong ? 2 : 1, sharedRounds: 1, width: isLong ? 10 : 6 },
    questions: { count: 4 * rounds, clients: 3, calls: 6 },
    reviews: 8,
    programs: isFull ? Array.from({ length: 500 }, (_, at) => at + 1) : PROGRAMS,
    simulation: isFull
      ? { seeds: 10_000, repeated: 200 }
      : isLong
        ? { seeds: 200, repeated: 10 }
        : { seeds: 20, repeated: 2 },
  };
}
