import { oldestProject } from "./oldest-langgraph.ts";
import { oracleTests } from "../oracle/oracle-tests.ts";

oracleTests({ oldest: true, newFolder: oldestProject });
