import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../harness/server.ts";
import { FULL, oracleTests } from "../oracle/oracle-tests.ts";
import { IS_LONG } from "../harness/long.ts";

const tested = { oldest: false, newFolder: () => mkdtempSync(join(ROOT, "test", ".work-")) };
oracleTests(tested, { programs: IS_LONG ? ["postgres"] : [], kills: FULL ? ["sqlite", "postgres"] : ["sqlite"] });
