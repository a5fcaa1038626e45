// The faults of the spool, with encryption: torn, damaged and forged files, power cuts, full disks, kills.
process.env["HOLDPOINT_ENCRYPTION_KEYS"] = `faults:${Buffer.alloc(32, 7).toString("base64")}`;
await import("./collector-spool.test.ts");
await import("./collector-kill.test.ts");
export {};
