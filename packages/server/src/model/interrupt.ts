// Interrupt: a question of a node with its answer, the audit trail of both, and messages about it.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { ActAction, DecisionAction } from "./audit-actions.ts";
import type { Origin } from "./caller.ts";

export type InterruptState = "open" | "answered" | "abandoned";

/**
 * Kind of an inbox item. `breakpoint` waits for a continuation. It has a row like an interrupt, so that the inbox lists
 * both in one order. Other code does not treat it as an interrupt.
 */
export type InterruptKind = "tool_approval" | "form" | "question" | "breakpoint";

/** Assignment of an inbox item to a person. */
export interface Assignment {
  readonly by: string;
  /** Absent: the person claimed the item. */
  readonly assignedBy?: string;
  readonly at: number;
  /** Null: no expiry. */
  readonly until: number | null;
}

/** Action at the deadline. */
export type OnExpiry = "fail" | { readonly answer: Json };

/** A counted answer of one person to an interrupt that needs several. */
export interface Vote {
  readonly by: string;
  readonly at: number;
  readonly verdict: "approve" | "reject";
  readonly value: Json;
  /** The service by which a contact of the notification file voted; absent for callers of the API. */
  readonly via?: "slack" | "email";
}

/** A later enlargement of the circle of assignees. */
export interface Escalation {
  readonly at: number;
  readonly assignees: readonly string[];
  /** Position of the list in `Review.assignees` that grows; null if its source has none. */
  readonly list: number | null;
}

/** Review rules of an interrupt: who may answer and how many must agree, and the votes so far. */
export interface Review {
  /** One list a source; the caller must be in each of them. Empty: all people. Entries: names, e-mails, `group:<name>`. */
  readonly assignees: readonly (readonly string[])[];
  /** Number of people who must give the same answer. */
  readonly approvals: number;
  /** Number of rejections that end the vote. */
  readonly rejections: number;
  readonly fourEyes: boolean;
  /** People who may not answer: those that the rules name, and with four eyes those who started the run. */
  readonly excluded: readonly string[];
  /** Pending ones, earliest first. */
  readonly escalations: readonly Escalation[];
  readonly votes: readonly Vote[];
  /** Malformed rules refuse every answer. */
  readonly fault: string | null;
}

/** One interrupt of one task. The row outlives its answer until the thread is deleted. */
export interface Interrupt {
  readonly threadId: string;
  readonly interruptId: string;
  /** The library's latest id. Before LangGraph 1.7, all interrupts of a task share one. */
  readonly libraryId: string;
  readonly taskId: string;
  readonly graphNs: string;
  /** Checkpoint of the task's graph. */
  readonly checkpointId: string;
  /** Checkpoint of the root graph at that time. */
  readonly rootCheckpointId: string;
  readonly index: number;
  /** `["<node>:<task uuid>", …]`, the whole path from the root. */
  readonly ns: readonly string[];
  /** Position among the interrupts of the same pause. */
  readonly position: number;
  readonly value: Json;
  readonly responseSchema: JsonObject | null;
  readonly state: InterruptState;
  readonly createdAt: number;
  /** The run that raised the interrupt. */
  readonly runId: string;
  readonly graphId: string;
  readonly assistantId: string;
  /** The node that raised the interrupt: the innermost of `ns`. For a breakpoint, the next nodes. */
  readonly node: string;
  readonly kind: InterruptKind;
  readonly claim: Assignment | null;
  readonly expiresAt: number | null;
  /** Null: after the deadline the interrupt is overdue and stays open. */
  readonly onExpiry: OnExpiry | null;
  /** Null: every caller with access may answer, and the first answer counts. */
  readonly review: Review | null;
  /** Follow-up date: until then, lists may leave the item out. */
  readonly snoozedUntil: number | null;
  /** Place among PRIORITIES, the most urgent first. */
  readonly priority: number;
  /** Time of the next escalation. */
  readonly escalatesAt: number | null;
  readonly answer: AnswerRecord | null;
  /** The latest answer that failed: the interrupt was asked again, or can be. Null if none did. */
  readonly failure: AnswerFailure | null;
}

/**
 * The path of the graph whose task raised it, `[]` for the root: its namespace in the thread protocol. Pages of SDKs
 * before 1.9.31 show only interrupts of the root's namespace.
 */
export function graphPath({ graphNs }: Pick<Interrupt, "graphNs">): readonly string[] {
  return graphNs === "" ? [] : graphNs.split("|");
}

/** An answer whose run ended without using it, or whose node threw. */
export interface AnswerFailure {
  readonly runId: string;
  readonly error: string;
  readonly message: string;
  readonly at: number;
  /** Number of answers at which the node threw. */
  readonly times: number;
}

export interface AnswerRecord {
  readonly runId: string;
  readonly at: number;
  readonly by: string;
  readonly value: Json;
}

export type AuditAction = DecisionAction | ActAction;

/** Channel of an action. */
export type AuditVia =
  | "api"
  | "inbox"
  | "deadline"
  | "server"
  | "mcp"
  | "a2a"
  | "slack"
  | "email"
  | "policy"
  | "cli"
  | "cron";

export interface AuditEntry {
  readonly threadId: string;
  readonly at: number;
  readonly action: AuditAction;
  readonly by: string;
  readonly interruptId: string | null;
  readonly runId: string | null;
  readonly value: Json;
  /** `api` if absent. */
  readonly via?: AuditVia;
  readonly origin?: Origin;
}

/** A message about an inbox item that changes with the item, such as one in a Slack channel. */
export interface Notice {
  readonly noticeId: string;
  readonly threadId: string;
  readonly interruptId: string;
  /** Address of the message at its service. */
  readonly target: JsonObject;
  /** State of the item as the message shows it. */
  readonly shown: "open" | "closed";
  readonly createdAt: number;
}
