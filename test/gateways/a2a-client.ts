// The official A2A client, in both versions of the protocol, with short forms of messages and of what tasks hold.
import assert from "node:assert/strict";
import {
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type Task,
  type TaskPushNotificationConfig,
  type TaskState,
} from "@a2a-js/sdk";
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";

export const VERSIONS = ["1.0", "0.3"] as const;
export type Version = (typeof VERSIONS)[number];

export interface Place {
  readonly url: string;
  readonly headers?: Record<string, string>;
}

/** @param version of the transport that the client picks from the card */
export async function connect(assistant: string, version: Version, { url, headers = {} }: Place): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const compat = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(compat)],
    cardResolver: new DefaultAgentCardResolver(compat),
  });
  const card = await new DefaultAgentCardResolver(compat).resolve(
    url,
    `/.well-known/agent-card.json?assistant_id=${assistant}`,
  );
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion: one }) => one === version);
  assert.equal(supportedInterfaces.length, 1);
  return factory.createFromAgentCard({ ...card, supportedInterfaces });
}

export const text = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});
export const data = (value: unknown): Part => ({
  content: { $case: "data", value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

export function message(parts: Part[], to: Partial<Message> = {}): Message {
  return {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...to,
  };
}

export function sending(sent: Message, push?: TaskPushNotificationConfig): SendMessageRequest {
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: push,
    historyLength: undefined,
    returnImmediately: false,
  };
  return { tenant: "", message: sent, configuration, metadata: undefined };
}

export async function send(client: Client, parts: Part[], to: Partial<Message> = {}): Promise<Task> {
  const result = await client.sendMessage(sending(message(parts, to)));
  assert.ok("status" in result, "a message starts or continues a task");
  return result;
}

export const answerTo = ({ id: taskId, contextId }: Task) => ({ taskId, contextId });
export const get = (client: Client, { id }: Task): Promise<Task> => client.getTask({ tenant: "", id });

export interface AskedData {
  readonly interrupt_id: string;
  readonly people_only: boolean;
  readonly link: string;
  readonly value: unknown;
}

export function listQuestions(parts: readonly Part[]): readonly AskedData[] {
  return parts.flatMap(({ content }) => (content?.$case === "data" ? [content.value as AskedData] : []));
}

export const questions = ({ status }: Task): readonly AskedData[] => listQuestions(status?.message?.parts ?? []);

export function joinTexts(parts: readonly Part[]): string {
  return parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : [])).join("");
}

export function values({ artifacts }: Task): Readonly<Record<string, unknown>> {
  const [found] = artifacts.flatMap(({ parts }) => listQuestions(parts));
  return (found ?? {}) as unknown as Readonly<Record<string, unknown>>;
}

export const readState = ({ status }: Task): TaskState | undefined => status?.state;
