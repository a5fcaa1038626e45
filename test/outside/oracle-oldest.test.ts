import { oldestProject } from "./oldest-langgraph.ts";
import { FULL, oracleTests } from "../oracle/oracle-tests.ts";

oracleTests(
  { oldest: true, newFolder: oldestProject },
  FULL ? { programs: ["sqlite", "postgres"], kills: ["sqlite", "postgres"] } : { programs: ["sqlite"], kills: [] },
);
