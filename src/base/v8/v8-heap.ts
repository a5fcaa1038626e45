// Heap: limits the spare memory of the garbage collector. V8 sizes it by the memory of the machine: tens of megabytes
// of young generation, and an old generation that may double before a collection. A mostly idle server should not hold
// that much. Measured with 5,000 paused threads: 224 MB resident instead of 320, for about a seventh more CPU under
// full load.
// Invariants:
//   v8-heap.1. With room under load, the limits depend on the rate of allocation: wide while a check period allocates
//     more than the young generation holds at rest, narrow otherwise. No setting chooses between them.
//   v8-heap.2. After REST_MS without load, one collection frees the room, because V8 alone may keep it for minutes: it
//     shrinks the young generation only at a collection, and an idle process may start none. Measured: from 303 MB
//     resident to 185.
//   v8-heap.3. A server collects its young generation on one thread. Several threads that share out a few megabytes cost
//     more than they collect: a tenth of all CPU time. The median pause grows from 2.6 to 4.6 ms, the longest does not.
//   v8-heap.4. The young generation of a server grows before its modules load, by a collection that finds much in use:
//     V8 begins with one megabyte, which they fill a hundred times. Measured: an eighth of the CPU time of a start, for
//     20 MB resident.
//   v8-heap.5. The young generation grows only here, to its limit in one step. Left to V8, it doubles at any collection,
//     so that it had two to four times its limit before its size was read: 30 to 60 MB.
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const MEBIBYTE = 1024 * 1024;
const OLD_GROWTH_PERCENT = 40;
const CHECK_EVERY_MS = 500;
/** The young generation stops growing at this size, both halves together. */
const YOUNG_BYTES_MAX = 16 * MEBIBYTE;
const LOADED_YOUNG_BYTES_MAX = 64 * MEBIBYTE;
const LOADED_OLD_GROWTH_PERCENT = 200;
/** Under load, about this much may be allocated in the old generation between two collections. */
const LOADED_OLD_GROWTH_BYTES = 128 * MEBIBYTE;
/** Process-wide, as the flags are. */
const state = { hasRoomUnderLoad: false, restMs: 0, restedMs: Infinity, youngBytesMax: YOUNG_BYTES_MAX };
/** Long enough that a pause between two requests of one load is no rest. */
const REST_MS = 20_000;
/** The collection stops the process for about a second per gigabyte: a larger heap waits for V8's own. */
const COLLECTED_BYTES_MAX = 192 * MEBIBYTE;

/** Call before loading anything large. V8 reads the flags at each collection. */
export function keepHeapSmall(): void {
  letOldHeapGrow(OLD_GROWTH_PERCENT);
  let allocatedBefore = 0;
  const checkHeap = (): void => {
    const allocated = getHeapStatistics().total_allocated_bytes;
    const period = allocated - allocatedBefore;
    const isLoaded = state.hasRoomUnderLoad && period > YOUNG_BYTES_MAX; // v8-heap.1
    allocatedBefore = allocated;
    state.restedMs = isLoaded ? 0 : state.restedMs + CHECK_EVERY_MS;
    if (state.restedMs >= state.restMs && state.restedMs < Infinity) {
      state.restedMs = Infinity; // once after each load
      collect();
    }
    if (period > youngBytes()) growYoungHeap(isLoaded ? LOADED_YOUNG_BYTES_MAX : state.youngBytesMax);
    if (state.hasRoomUnderLoad) letOldHeapGrow(isLoaded ? loadedOldGrowth() : OLD_GROWTH_PERCENT);
  };
  setFlagsFromString("--semi-space-growth-factor=1"); // v8-heap.5
  setInterval(checkHeap, CHECK_EVERY_MS).unref();
}

/** Of both halves. More than that for some time while V8 marks: then it grows at a later check, or by less. */
function youngBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  return space === undefined ? 0 : 2 * (space.space_used_size + space.space_available_size);
}

function letOldHeapGrow(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/** In percent: a large heap grows by the same bytes as a small one, not by the same factor. */
function loadedOldGrowth(): number {
  const percent = Math.round((100 * LOADED_OLD_GROWTH_BYTES) / getHeapStatistics().used_heap_size);
  return Math.min(Math.max(percent, OLD_GROWTH_PERCENT), LOADED_OLD_GROWTH_PERCENT);
}

/** v8-heap.2. */
function collect(): void {
  if (getHeapStatistics().used_heap_size > COLLECTED_BYTES_MAX) return;
  collector()({ type: "major" });
}

type Collect = (options: { readonly type: "major" | "minor" }) => void;

function collector(): Collect {
  setFlagsFromString("--expose-gc"); // new contexts have the function, and no other code gets it
  const gc = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return gc;
}

/** For each megabyte of the young generation: more than half of one of its halves. */
const OBJECTS_IN_USE = 6000;
/** V8 lets the young generation grow at a collection after which more was in use, in sum, than a half holds. */
const ROUNDS_MAX = 3;

/** v8-heap.5. */
function growYoungHeap(bytesMax: number): void {
  if (bytesMax < 2 * youngBytes()) return;
  const collectNow = collector();
  collectNow({ type: "minor" }); // between collections, the size may read as half of what it is
  const bytes = youngBytes();
  const factor = Math.floor(bytesMax / bytes);
  if (factor < 2) return;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  const inUse: object[] = [];
  for (let round = 0; round < ROUNDS_MAX && youngBytes() < factor * bytes; round++) {
    for (let n = 0; n < (OBJECTS_IN_USE * bytes) / MEBIBYTE; n++) inUse.push({ n, a: n, b: n, c: n });
    collectNow({ type: "minor" });
  }
  setFlagsFromString("--semi-space-growth-factor=1");
}

export interface HeapSizes {
  /** Of both halves of the young generation. */
  readonly youngBytesMax: number;
  /** The same in each thread that the process starts later: it does not grow there (v8-heap.5). */
  readonly threadYoungBytes: number;
  /** How much an old generation may grow between two collections, in all threads. */
  readonly oldGrowthPercent: number;
}

/**
 * For a process whose young generation is collected on one thread (v8-heap.3) and whose limits are its own.
 * Measured with the collector in memory mode, at full load: a young generation of 24 or 32 MB instead of 16 saves no CPU
 * time, and takes 10 to 20 MB more.
 */
export function setHeapSizes({ oldGrowthPercent, threadYoungBytes, youngBytesMax }: HeapSizes): void {
  state.youngBytesMax = youngBytesMax;
  letOldHeapGrow(oldGrowthPercent);
  setFlagsFromString(`--min-semi-space-size=${threadYoungBytes / 2 / MEBIBYTE}`);
  setFlagsFromString("--no-parallel-scavenge");
}

/**
 * For a server, before it loads its modules: wide limits while it carries load (v8-heap.1).
 * Measured with 32 clients: a tenth less CPU time, for about 310 MB resident under load instead of 250.
 */
export function giveHeapRoomUnderLoad(restMs = REST_MS): void {
  state.hasRoomUnderLoad = true;
  state.restMs = restMs;
  setFlagsFromString("--no-parallel-scavenge"); // v8-heap.3
  state.restedMs = 0; // v8-heap.2
  growYoungHeap(YOUNG_BYTES_MAX); // v8-heap.4
}
