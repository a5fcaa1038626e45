// The vitest globals that the library's conformance suite uses, over node:test and node:assert. A missing matcher fails
// loudly: it is undefined.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual, format } from "node:util";

type Work = (...args: readonly never[]) => unknown;
type Declare = (name: string, work: () => void | Promise<void>) => unknown;

class ArrayContaining {
  readonly items: readonly unknown[];
  constructor(items: readonly unknown[]) {
    this.items = items;
  }
  accepts(actual: unknown): boolean {
    return Array.isArray(actual) && this.items.every((item) => actual.some((one) => isDeepStrictEqual(one, item)));
  }
}

/** `toEqual` treats undefined members as absent. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, comparable(member)]));
}

function expect(actual: unknown) {
  return {
    toBe: (expected: unknown) => assert.equal(actual, expected),
    toBeDefined: () => assert.notEqual(actual, undefined),
    toBeUndefined: () => assert.equal(actual, undefined),
    toBeTruthy: () => assert.ok(actual),
    toEqual(expected: unknown) {
      if (expected instanceof ArrayContaining) assert.ok(expected.accepts(actual), format(actual));
      else assert.deepEqual(comparable(actual), comparable(expected));
    },
    not: { toBeUndefined: () => assert.notEqual(actual, undefined) },
    rejects: { toThrow: () => assert.rejects(actual as () => Promise<unknown>) },
  };
}

/** Cases are objects, whose members replace `$member` in the name, or plain values, which replace `%s`. */
function each(declare: Declare) {
  return (cases: readonly unknown[]) => (name: string, work: Work) => {
    for (const one of cases) {
      const members = typeof one === "object" && one !== null ? Object.entries(one) : [];
      const named = members.reduce((text, [key, value]) => text.replaceAll(`$${key}`, String(value)), name);
      declare(format(named, ...(named.includes("%s") ? [one] : [])), () => work(one as never) as Promise<void>);
    }
  };
}

/** @param leftOut names of tests that do not apply → why. */
export function provideGlobals(leftOut: Readonly<Record<string, string>>): void {
  const declareTest = (name: string, work: Work): unknown => {
    if (name in leftOut) return undefined;
    return it(name, () => work() as Promise<void>);
  };
  Object.assign(globalThis, {
    describe: Object.assign(describe.bind(null), { each: each((name, work) => describe(name, work)) }),
    it: Object.assign(declareTest, { each: each(declareTest) }),
    beforeAll: before,
    afterAll: after,
    beforeEach,
    afterEach,
    expect: Object.assign(expect, {
      soft: expect,
      arrayContaining: (items: readonly unknown[]) => new ArrayContaining(items),
    }),
  });
}
