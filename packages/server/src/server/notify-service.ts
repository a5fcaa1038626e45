// Notify service: what the server needs to notify people by rules. notify/ provides it; packages/holdpoint/src/main/ selects it.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { RoleRule } from "../auth/role-rules.ts";
import type { AgentContext } from "../context/context.ts";
import type { Interrupt } from "../model/model.ts";
import type { AnswerAddresses } from "../ports/answer-addresses.ts";
import type { Storage } from "../ports/ports.ts";
import type { Channels } from "../webhooks/delivery.ts";

export interface NotifyPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: () => string;
  readonly wakeOutbox: () => void;
  /** Null without sign-in. */
  readonly roleRules: readonly RoleRule[] | null;
}

export interface Notify {
  /** How rows of the outbox reach people. */
  readonly channels: Channels;
  /** Answers from outside the console. */
  readonly routes: (agent: AgentContext) => readonly HttpRoute[];
  /** Null without a secret for links. */
  readonly addresses: AnswerAddresses | null;
  /** Whether a person who answers by e-mail is still one. */
  readonly stillNames: AgentContext["isContact"];
  /** Null when no sent message shows the state of an item. */
  readonly watch: NoticeWatch | null;
}

/** Brings sent messages up to date with their items. */
export interface NoticeWatch extends Service {
  /** The inbox may have changed. */
  readonly changed: () => void;
  /** These items are open, perhaps again. */
  readonly opened: (items: readonly Interrupt[]) => void;
}

export type CreateNotify = (ports: NotifyPorts) => Notify;
