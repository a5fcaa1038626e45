import { oracleTests } from "../oracle/oracle-tests.ts";

oracleTests({ oldest: true });
