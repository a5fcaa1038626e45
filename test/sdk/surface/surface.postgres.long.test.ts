// What clients see of threads, runs and streams, on PostgreSQL.
process.env["HOLDPOINT_TEST_STORAGE"] = "postgres";
await import("./surface.test.ts");
await import("./streams.slow.test.ts");
await import("./changelog.test.ts");
await import("./differences.test.ts");
await import("../../agent/called-graphs.test.ts");
export {};
