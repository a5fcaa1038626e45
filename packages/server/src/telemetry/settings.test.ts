// Test of the traces' address and protocol, by the standard variables.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Env } from "@holdpoint/base/config/config.ts";
import { readProtocol, readTracesAddress } from "./settings.ts";

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const OWN = "http://127.0.0.1:4318/v1/traces";

const ADDRESSES: readonly (readonly [name: string, env: Env, address: string | null, withOwn: string | null])[] = [
  ["nothing is set", {}, null, OWN],
  ["a variable is empty", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }, null, OWN],
  ["a base address", BASE, "http://collector:4318/v1/traces", "http://collector:4318/v1/traces"],
  [
    "a base address with a path and a slash",
    { OTEL_EXPORTER_OTLP_ENDPOINT: "https://a.example/otel/" },
    "https://a.example/otel/v1/traces",
    "https://a.example/otel/v1/traces",
  ],
  [
    "an address for traces wins, as it is",
    { ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://b:1/x" },
    "http://b:1/x",
    "http://b:1/x",
  ],
  ["the SDK is disabled", { ...BASE, OTEL_SDK_DISABLED: "true" }, null, null],
  ["the exporter is none", { ...BASE, OTEL_TRACES_EXPORTER: "none" }, null, null],
];

for (const [name, env, address, withOwn] of ADDRESSES) {
  test(`${name}: ${address === null ? "no traces are sent" : `spans go to ${address}`}`, () => {
    assert.equal(readTracesAddress(env, null), address);
    assert.equal(readTracesAddress(env, OWN), withOwn, "beside a collector in the process");
  });
}

test("an address or a protocol that no exporter here has is a problem of its variable", () => {
  assert.throws(() => readTracesAddress({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" }, null), /OTLP_ENDPOINT/);
  assert.throws(() => readProtocol({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }), /OTLP_PROTOCOL: "grpc" is neither/);
  assert.equal(readProtocol({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }), "http/json");
  assert.equal(readProtocol({}), "http/protobuf");
});
