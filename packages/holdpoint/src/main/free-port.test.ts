import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { onFreePort } from "./dev-parts.ts";

test("a service whose port is in use takes a later one, but none that is reserved (free-port.2)", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const reserved = [port + 1, port + 2];
  const moved = await onFreePort({ host: "127.0.0.1", port, reserved }, async (given) => given);
  assert.ok(moved > port + 2, `${port} → ${moved}`);
});
