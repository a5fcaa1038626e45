// Test of the traces' address, by the standard variables, and of headers, which are secrets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig, type Env } from "../base/config/config.ts";
import { readHeaders, TELEMETRY_SETTINGS, tracesAddress } from "./settings.ts";

const read = (env: Env) => readConfig(env, TELEMETRY_SETTINGS, () => "");
const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

const ADDRESSES: readonly (readonly [name: string, env: Env, address: string | null])[] = [
  ["nothing is set", {}, null],
  ["a base address", BASE, "http://collector:4318/v1/traces"],
  [
    "a base address with a path and a slash",
    { OTEL_EXPORTER_OTLP_ENDPOINT: "https://a.example/otel/" },
    "https://a.example/otel/v1/traces",
  ],
  [
    "an address for traces wins, as it is",
    { ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://b:1/x" },
    "http://b:1/x",
  ],
  ["the SDK is disabled", { ...BASE, OTEL_SDK_DISABLED: "true" }, null],
  ["the exporter is none", { ...BASE, OTEL_TRACES_EXPORTER: "none" }, null],
];

for (const [name, env, address] of ADDRESSES) {
  test(`${name}: ${address === null ? "no traces are sent" : `spans go to ${address}`}`, () => {
    assert.equal(tracesAddress(read(env)), address);
  });
}

test("header values are decoded", () => {
  assert.deepEqual(readHeaders("x-api-key=a%2Cb, x-tenant = one=two ,"), { "x-api-key": "a,b", "x-tenant": "one=two" });
});

test("an error about invalid headers does not show them", () => {
  assert.throws(
    () => read({ OTEL_EXPORTER_OTLP_HEADERS: "very-secret" }),
    (error: Error) => error.message.includes("OTEL_EXPORTER_OTLP_HEADERS") && !error.message.includes("very-secret"),
  );
});

for (const ratio of ["2", "-1", "half"]) {
  test(`a ratio of ${ratio} is invalid`, () => {
    assert.throws(() => read({ OTEL_TRACES_SAMPLER_ARG: ratio }), /OTEL_TRACES_SAMPLER_ARG/);
  });
}
