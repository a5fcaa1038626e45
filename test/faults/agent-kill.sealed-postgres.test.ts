// kill -9 at chosen points of the way of a run, with encryption, on PostgreSQL.
process.env["HOLDPOINT_TEST_STORAGE"] = "postgres";
await import("./agent-kill.sealed.test.ts");
export {};
