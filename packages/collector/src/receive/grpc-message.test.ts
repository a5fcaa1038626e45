import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { REFUSALS, type RefusalKind } from "../otlp/status.ts";
import { refusalTrailers } from "./grpc-message.ts";

describe("trailers of a refusal", () => {
  const RETRIED: Partial<Record<RefusalKind, string>> = {
    over_limit: "8",
    no_room: "8",
    spool_unwritable: "14",
    stopping: "14",
  };
  for (const kind of Object.keys(REFUSALS) as RefusalKind[])
    test(`grpc-message.2 ${kind}: ${RETRIED[kind] === undefined ? "final" : "with RetryInfo"}`, () => {
      const trailers = refusalTrailers(kind, "a reason", 2.1);
      const details = Buffer.from(trailers["grpc-status-details-bin"] ?? "", "base64").toString("latin1");
      if (RETRIED[kind] === undefined) return assert.equal(details, "");
      assert.equal(trailers["grpc-status"], RETRIED[kind]);
      assert.match(details, /google\.rpc\.RetryInfo\x12\x04\x0a\x02\x08\x03$/); // 3 s
    });
});
