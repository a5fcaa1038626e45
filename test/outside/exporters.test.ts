// The official exporters over gRPC, and those of log records over HTTP, unmodified, each in a separate process. Their
// dependencies are a separate project, test/collector/exporters.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startBackend } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { nestedProject } from "./nested-project.ts";

const folder = nestedProject("test/collector/exporters");

describe("exporters 0.301", () => {
  for (const [transport, compression] of [
    ["grpc", "none"],
    ["grpc", "gzip"],
    ["json", "none"],
    ["json", "gzip"],
    ["protobuf", "none"],
    ["protobuf", "gzip"],
  ] as const)
    test(`log records over ${transport} (${compression}), spans and metrics over gRPC: one run, no failed export`, async () => {
      const backend = await startBackend();
      const { collector, url } = await startCollector(backend.url, { GRPC_PORT: "0" });
      const grpc = collector.grpcAddress() ?? assert.fail();
      let said = "";
      try {
        const child = spawn(process.execPath, [join(folder, "send.mjs"), transport], {
          env: {
            PATH: process.env["PATH"],
            OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${grpc.port}`,
            ...(transport === "grpc" ? {} : { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/v1/logs` }),
            OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=sender-key,tracing-project=exported",
            OTEL_EXPORTER_OTLP_COMPRESSION: compression,
          },
          stdio: ["ignore", "pipe", "inherit"],
        });
        child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
        assert.deepEqual(await once(child, "close"), [0, null]);
        await backend.when(() => backend.runs.at(-1)?.outputs !== null && backend.runs.length > 0);
      } finally {
        await collector.stop();
        await backend.close();
      }
      assert.match(said, /^[0-9a-f]{16}\n$/, "no export failed");
      const run = backend.runs.at(-1) ?? assert.fail();
      assert.ok(run.text.includes(said.trim()));
      assert.deepEqual([run.key, run.main["session_name"], run.main["run_type"]], ["sender-key", "exported", "llm"]);
      assert.deepEqual(run.inputs, { messages: [{ role: "user", content: "Weather in Paris?" }] });
      assert.match(run.text, /"content":"Rain\."/);
      assert.deepEqual(backend.violations, []);
      assert.deepEqual([collector.accounting.received, collector.accounting.records.received], [1, 2]);
    });
});
