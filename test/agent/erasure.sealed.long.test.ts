// Erasure, with encryption, and with the index of words that keys switch off otherwise.
process.env["HOLDPOINT_ENCRYPTION_KEYS"] = `erasure:${Buffer.alloc(32, 7).toString("base64")}`;
await import("./erasure.test.ts");
export {};
