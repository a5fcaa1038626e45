// Forward request: one received request, after redaction, as destinations get it. It holds no key of its sender.
export interface ForwardRequest {
  readonly signal: "traces" | "logs" | "metrics";
  readonly format: "protobuf" | "json";
  readonly encoding: "identity" | "gzip" | "deflate" | "zstd";
  readonly wire: Buffer;
  /** The `Tracing-Project` header; "" for none. */
  readonly project: string;
  /** The `X-Tenant-Id` header; "" for none. */
  readonly tenantId: string;
}
