// World: the seeded scheduler of a simulation. Everything that several processes do at once waits here: statements
// on their way to PostgreSQL, replies on their way back, and timers. One step releases one of them, in the order of
// the seed, after everything that the step before caused has come to rest.
//   world.1. A step begins when the event loop is quiet, and each statement under way has its reply or waits for a lock
//        of another transaction. So the same seed makes the same history.
//   world.2. Nobody waits for one reply only: a statement that PostgreSQL keeps waiting is set aside.
//   world.3. Time passes with the timers: it is that of the last one.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Client } from "pg";
import type { Clock } from "@holdpoint/base/clock.ts";
import { randomFrom } from "../harness/reviews/quorum-law.ts";

/** What waits for its release. */
export interface Item {
  readonly what: string;
  /** Number of its connection in its process: the order in which replies arrive is not that of the seed. */
  readonly place: number;
  readonly of: Process;
  /** `fate` is for statements only. */
  release(fate: Fate): void;
  readonly isStatement: boolean;
}

/** What becomes of a statement: sent; refused by PostgreSQL; or its connection breaks before or after it. */
export type Fate = "sent" | "refused" | "cut before" | "cut after";

/** A simulated process: a storage, and the server on it. */
export interface Process {
  readonly name: string;
  dead: boolean;
  /** False until its storage is open: its first statements are no part of the history. */
  isHeld: boolean;
  readonly died: PromiseWithResolvers<"died">;
  readonly links: Set<Link>;
  /** Connections so far. */
  opened: number;
}

/** A connection of a process. */
export interface Link {
  /** Breaks it without a word to its process. */
  sever(): void;
}

/** A statement under way, or the rest of a broken connection. */
export interface Flight {
  readonly pid: number;
  /** Its connection is broken: it ends with its backend. */
  isGhost: boolean;
  /** For a lock of another transaction, when last looked at. */
  waits: boolean;
}

interface Timer {
  readonly at: number;
  readonly of: Process;
  readonly callback: () => void;
}

const BEGIN_MS = Date.UTC(2026, 9, 1);
/** Turns of the event loop until what a step caused has come to rest. */
const TURNS = 4;
/** A look costs PostgreSQL as much as a statement: on a busy machine each is later than the one before. */
const LOOK_AGAIN_MS = { first: 1, most: 32 };
/** A near timer comes before a statement more often than a far one. */
const TIMER_CHANCES = { near: 0.2, far: 0.01 };
const NEAR_MS = 50;
const FATES: readonly (readonly [Fate, number])[] = [
  ["refused", 0.05],
  ["cut before", 0.01],
  ["cut after", 0.02],
];

export class World {
  readonly random: () => number;
  readonly flights = new Set<Flight>();
  readonly steps: string[] = [];
  readonly processes = new Set<Process>();
  /** Nothing is held: for the time before and after a history. */
  isOpen = true;
  /** Connections that are being opened or closed. */
  opening = 0;
  private items: Item[] = [];
  private timers: Timer[] = [];
  private nowMs = 0;
  private ticks = 0;
  private moves = 0;
  /** A reply or an end has come since the last look: it may have freed a statement that waited. */
  private mayHaveFreed = false;
  private readonly admin: Client;
  private readonly chooseFate: (chance: number, step: number) => Fate;
  private moved = Promise.withResolvers<void>();

  constructor(seed: number, admin: Client, chooseFate = chooseByShare) {
    this.chooseFate = chooseFate;
    this.random = randomFrom(seed);
    this.admin = admin;
  }

  offer(item: Item): void {
    this.moves++;
    if (this.isOpen || !item.of.isHeld) return item.release("sent");
    this.items.push(item);
  }

  withdraw(of: (item: Item) => boolean): void {
    this.items = this.items.filter((item) => !of(item));
  }

  /** Something came from outside: a reply, a connection. */
  readonly note = (): void => {
    this.moves++;
    this.mayHaveFreed = true;
    this.moved.resolve();
    this.moved = Promise.withResolvers();
  };

  /** The order of what callers see. */
  tick(): number {
    return ++this.ticks;
  }

  clock(of: Process): Clock {
    return {
      now: () => BEGIN_MS + Math.floor(this.nowMs),
      monotonic: () => this.nowMs,
      after: (ms, callback) => {
        const timer = { at: this.nowMs + ms, of, callback };
        this.timers.push(timer);
        this.moves++;
        return () => void (this.timers = this.timers.filter((other) => other !== timer));
      },
    };
  }

  newProcess(name: string): Process {
    const process = {
      name,
      dead: false,
      isHeld: false,
      died: Promise.withResolvers<"died">(),
      links: new Set<Link>(),
      opened: 0,
    };
    this.processes.add(process);
    return process;
  }

  /** The process stops at once: what it was about to do never happens. */
  kill(process: Process): void {
    process.dead = true;
    this.processes.delete(process);
    this.withdraw(({ of }) => of === process);
    this.timers = this.timers.filter(({ of }) => of !== process);
    for (const link of process.links) link.sever();
    process.died.resolve("died");
  }

  /** Releases one thing after the other. @throws if nothing is left to release before `isOver` */
  async run(isOver: () => boolean, stepsMax: number, onQuiet?: () => Promise<void>): Promise<void> {
    for (;;) {
      await this.settle();
      if (isOver()) return;
      await onQuiet?.();
      if (this.steps.length >= stepsMax) throw new Error(`not over after ${stepsMax} steps`);
      this.step();
    }
  }

  private step(): void {
    const timer = this.timers.toSorted((one, other) => one.at - other.at)[0];
    const chance = timer !== undefined && timer.at - this.nowMs <= NEAR_MS ? TIMER_CHANCES.near : TIMER_CHANCES.far;
    if (timer !== undefined && (this.items.length === 0 || this.random() < chance)) {
      this.timers = this.timers.filter((other) => other !== timer);
      this.nowMs = Math.max(this.nowMs, timer.at);
      this.steps.push(`${timer.of.name} timer`);
      timer.callback();
      return;
    }
    const inOrder = this.items.toSorted((one, other) => compare(one.of.name, other.of.name) || one.place - other.place);
    const item = inOrder[Math.floor(this.random() * inOrder.length)];
    if (item === undefined) return; // all wait for PostgreSQL
    this.items = this.items.filter((other) => other !== item);
    const fate = item.isStatement ? this.chooseFate(this.random(), this.steps.length) : "sent";
    this.steps.push(`${item.of.name}${item.place} ${item.what} ${fate}`);
    item.release(fate);
  }

  /** world.1. */
  async settle(): Promise<void> {
    for (let lookMs = LOOK_AGAIN_MS.first; ; lookMs = Math.min(2 * lookMs, LOOK_AGAIN_MS.most)) {
      const { moved } = this;
      for (let quiet = 0, { moves } = this; quiet < TURNS; quiet++) {
        await nextTurn();
        if (moves === this.moves) continue;
        quiet = 0;
        ({ moves } = this);
      }
      if (this.flights.size === 0 && this.opening === 0) return;
      const isFresh = this.opening > 0 || [...this.flights].some(({ waits }) => !waits);
      if (isFresh && (await this.movesWithin(moved.promise, lookMs))) continue;
      const hasMore = this.items.length > 0 || this.timers.length > 0;
      if (!isFresh && !this.mayHaveFreed && hasMore) return; // they wait as before
      const { moves } = this;
      if (this.opening > 0 || !(await this.allWait()) || moves !== this.moves) continue; // what ended may have freed others
      if (hasMore) return; // world.2
      await this.movesWithin(moved.promise, lookMs);
    }
  }

  private movesWithin(moved: Promise<void>, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms, false);
      void moved.then(() => (clearTimeout(timer), resolve(true)));
    });
  }

  /** Whether each statement under way waits for a lock. Drops ghosts whose backend is gone. */
  private async allWait(): Promise<boolean> {
    const pids = [...this.flights].map(({ pid }) => pid);
    this.mayHaveFreed = false;
    const { rows } = await this.admin.query<{ readonly pid: number; readonly waits: boolean }>(
      "SELECT pid, cardinality(pg_blocking_pids(pid)) > 0 AS waits FROM pg_stat_activity WHERE pid = ANY($1)",
      [pids],
    );
    const waits = new Map(rows.map((row) => [row.pid, row.waits]));
    for (const flight of this.flights) if (flight.isGhost && !waits.has(flight.pid)) this.flights.delete(flight);
    for (const flight of this.flights) flight.waits = waits.get(flight.pid) === true;
    return [...this.flights].every((flight) => flight.waits);
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function chooseByShare(chance: number, _step: number): Fate {
  let left = chance;
  for (const [fate, share] of FATES) if ((left -= share) < 0) return fate;
  return "sent";
}
