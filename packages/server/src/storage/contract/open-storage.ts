import type { TestContext } from "node:test";
import type { Storage } from "../../ports/ports.ts";
import type { Dumpable } from "../dump/dump.ts";

/** Opens an empty storage and closes it after the test. */
export type OpenStorage = (t: TestContext) => Promise<Storage & Dumpable>;
