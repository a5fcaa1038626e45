import { oldestProject } from "../harness/oldest-langgraph.ts";
import { oracleTests } from "../oracle/oracle-tests.ts";

oracleTests({ oldest: true, newFolder: oldestProject });
