// Long forms: HOLDPOINT_FAULTS=long (`npm run test:long`) runs a file in its long form, and `X.long.test.ts` imports
// `X.test.ts`, which is then run so.
//   for (const kind of IS_LONG ? ALL : SOME) test(…)
//   testInShort(…), testInLong(…): a test of one of the forms
import { test, type TestFn, type TestOptions } from "node:test";

interface Test {
  (name: string, check: TestFn): unknown;
  (name: string, options: TestOptions, check: TestFn): unknown;
}
const none: Test = () => undefined;

export const IS_LONG: boolean =
  process.env["HOLDPOINT_FAULTS"] !== undefined || process.argv[1]?.endsWith(".long.test.ts") === true;
export const testInShort: Test = IS_LONG ? none : test;
export const testInLong: Test = IS_LONG ? test : none;
