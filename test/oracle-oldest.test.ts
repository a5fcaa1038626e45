import { oracleTests } from "./harness/oracle-tests.ts";

oracleTests({ oldest: true });
