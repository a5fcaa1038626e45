// API contract of health, version and metrics.
import * as z from "zod";
import { operation } from "./operation.ts";
import { flag } from "./schemas.ts";

const ok = z.object({ ok: z.literal(true) });

export const getOk = operation("getOk", "get", "/ok", {
  tag: "Meta",
  access: "public",
  summary: "The server is reachable; check_db=1 also asks the database",
  query: z.object({ check_db: flag }),
  reply: ok.extend({
    services: z.record(z.string(), z.enum(["ok", "stopping"])).describe("the parts of this process"),
  }),
  refusals: ["storage_unavailable"],
});
export const getLive = operation("getLive", "get", "/live", {
  tag: "Meta",
  access: "public",
  summary: "The process is alive",
  reply: ok,
});
export const getReady = operation("getReady", "get", "/ready", {
  tag: "Meta",
  access: "public",
  summary: "The server accepts runs: the storage is writable and no shutdown is in progress",
  reply: ok,
  refusals: ["storage_unavailable", "shutting_down"],
});
export const getInfo = operation("getInfo", "get", "/info", {
  tag: "Meta",
  access: "public",
  summary: "Versions and features of this server",
  reply: z.object({
    version: z.string(),
    langgraph_js_version: z.string(),
    context: z.literal("js"),
    flags: z.record(z.string(), z.boolean()),
  }),
});
export const getMetrics = operation("getMetrics", "get", "/metrics", {
  tag: "Meta",
  access: "authenticated",
  summary: "Metrics, in the Prometheus text format or as JSON",
  query: z.object({ format: z.enum(["prometheus", "json"]).default("prometheus") }),
  reply: z.unknown(),
});
export const getOpenApi = operation("getOpenApi", "get", "/openapi.json", {
  tag: "Meta",
  access: "authenticated",
  summary: "This document",
  reply: z.record(z.string(), z.unknown()),
});
