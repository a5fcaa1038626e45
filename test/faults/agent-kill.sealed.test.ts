// kill -9 at chosen points of the way of a run, with encryption.
process.env["HOLDPOINT_ENCRYPTION_KEYS"] = `faults:${Buffer.alloc(32, 7).toString("base64")}`;
await import("./agent-kill.test.ts");
export {};
