// Messages between the receiving thread and a worker. Each side collects its messages during a turn of its event loop
// and posts them as one list.
import type { BodyEncoding } from "../encode/batch-body.ts";
import type { Decision } from "../assemble/assemble.ts";
import type { LogFields, LogLevel } from "../../base/log/log.ts";
import type { Signal } from "../otlp/decoded.ts";
import type { WireFormat } from "../otlp/status.ts";
import type { PipelineOptions, PipelineStats } from "../pipeline/pipeline.ts";
import type { TranslateOptions } from "../translate/translate.ts";
import type { BackendLimits } from "../upload/backend/port.ts";

/** Set-up of a worker. */
export interface WorkerSetup {
  readonly pipeline: PipelineOptions;
  readonly translate: TranslateOptions;
  readonly durable: boolean;
  readonly limits: BackendLimits;
}

/** Key and X-Tenant-Id. */
export interface TenantKeys {
  readonly apiKey: string;
  readonly tenantId: string;
}

/** The part of a stored request that its share needs. */
export interface ShareOf {
  readonly segment: number;
  readonly offset: number;
  readonly spans: number;
  /** Items that are done, or that the worker's predecessor has handed over; null for none. */
  readonly done: Uint8Array | null;
}

export type ToWorker =
  | {
      readonly kind: "read";
      readonly share: number;
      readonly bytes: Uint8Array;
      readonly format: WireFormat;
      readonly signal: Signal;
      readonly tenant: TenantKeys;
      readonly project: string;
      readonly receivedMs: number;
    }
  /** `positions`: of its items in their request; null in memory mode, as the request. */
  | {
      readonly kind: "feed";
      readonly share: number;
      readonly positions: Uint32Array<ArrayBuffer> | null;
      readonly request: ShareOf | null;
    }
  | { readonly kind: "discard"; readonly share: number }
  | { readonly kind: "recall"; readonly decisions: readonly Decision[] }
  | { readonly kind: "limits"; readonly limits: BackendLimits }
  | { readonly kind: "flush" };

/** The result of one share. */
export interface ShareRead {
  readonly kind: "read";
  readonly share: number;
  readonly items: number;
  readonly rejectedAt: readonly number[] | null;
  readonly reason: string;
  readonly repairedTexts: number;
  readonly isNothingStored: boolean;
}

/** Origins of one run: share, position, share, position, … */
export type FlatOrigins = readonly number[];

export interface BodyMessage {
  readonly tenant: TenantKeys;
  readonly createdMs: number;
  readonly boundary: string;
  readonly encoding: BodyEncoding;
  readonly bytes: Uint8Array;
  readonly rawBytes: number;
  readonly offsets: readonly number[];
}

/** Changes of the counters that a worker changes, since its last report. */
export interface CountChanges {
  readonly filtered: number;
  readonly duplicates: number;
  readonly untranslatable: number;
  readonly joined: number;
  readonly notStored: number;
}

export type FromWorker =
  | { readonly kind: "ready" }
  | ShareRead
  /** `isFault`: a defect of the collector, not of the body. */
  | { readonly kind: "unreadable"; readonly share: number; readonly message: string; readonly isFault: boolean }
  | { readonly kind: "fed"; readonly share: number }
  | {
      readonly kind: "batch";
      readonly body: BodyMessage;
      readonly places: string;
      readonly origins: readonly FlatOrigins[];
    }
  | {
      readonly kind: "misplaced";
      readonly body: BodyMessage;
      readonly reason: string;
      readonly origins: FlatOrigins;
    }
  | { readonly kind: "done"; readonly share: number; readonly indexes: readonly number[] }
  | { readonly kind: "counted"; readonly changes: CountChanges }
  | {
      readonly kind: "held";
      readonly bytes: number;
      /** Of the tenants whose bytes may have changed. */
      readonly byTenant: readonly (readonly [tenantId: string, bytes: number])[];
      readonly stats: PipelineStats;
    }
  | { readonly kind: "log"; readonly level: LogLevel; readonly event: string; readonly fields: LogFields }
  | { readonly kind: "flushed" };
