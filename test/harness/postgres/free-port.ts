// A port for a test to name before a process listens on it. Ports of the ephemeral range do not serve: between the look
// and the use, the system may give one to another process that listens on port 0 or connects somewhere.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ranges of Linux (from 32768), macOS and Windows (from 49152). */
const FROM = 20_000;
const TO = 32_000;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, TO);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().on("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
