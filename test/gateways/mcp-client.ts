// The official MCP clients, of both generations of the protocol, with a user who is asked or none.
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export type Content = Readonly<Record<string, string | number | boolean | string[]>>;
export interface Asked {
  readonly message: string;
  readonly mode?: string;
  readonly url?: string;
  readonly requestedSchema?: { readonly properties: Readonly<Record<string, unknown>> };
}
export type Reply = { readonly action: "accept" | "decline" | "cancel"; readonly content?: Content };
/** Null: the client cannot ask its user. */
export type User = ((asked: Asked) => Reply | Promise<Reply>) | null;

export interface Outcome {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>> & {
    readonly status: string;
    readonly thread_id: string;
    readonly values?: Readonly<Record<string, unknown>>;
    readonly interrupts?: readonly { readonly id: string; readonly people_only: boolean; readonly link: string }[];
  };
}

export interface Caller {
  readonly run: (name: string, args: object, meta?: object) => Promise<Outcome>;
  readonly tools: () => Promise<readonly { readonly name: string; readonly inputSchema: object }[]>;
  readonly close: () => Promise<void>;
}

export interface Connection {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly modes?: { readonly form?: object; readonly url?: object };
}

/** Connects in the protocol's revisions with sessions. */
export async function legacy(user: User, { url, headers = {}, modes = {} }: Connection): Promise<Caller> {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: user === null ? {} : { elicitation: modes as never } },
  );
  if (user !== null) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => user(params as Asked));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return {
    run: async (name, args, meta = {}) =>
      (await client.callTool({ name, arguments: { ...args }, _meta: { ...meta } })) as unknown as Outcome,
    tools: () => allPages((cursor) => client.listTools(cursor === undefined ? {} : { cursor })),
    close: () => client.close(),
  };
}

export async function modern(user: User, { url, headers = {}, modes = { form: {} } }: Connection): Promise<Caller> {
  const client = new ModernClient(
    { name: "test", version: "2" },
    { capabilities: user === null ? {} : { elicitation: modes as never }, versionNegotiation: { mode: "auto" } },
  );
  if (user !== null) client.setRequestHandler("elicitation/create", async ({ params }) => user(params as Asked));
  await client.connect(new ModernTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return {
    run: async (name, args, meta = {}) =>
      (await client.callTool({ name, arguments: { ...args }, _meta: { ...meta } })) as unknown as Outcome,
    tools: () => allPages((cursor) => client.listTools(cursor === undefined ? {} : { cursor })),
    close: () => client.close(),
  };
}

interface Page<T> {
  readonly tools: readonly T[];
  readonly nextCursor?: string | undefined;
}

export async function allPages<T>(list: (cursor: string | undefined) => Promise<Page<T>>): Promise<readonly T[]> {
  const found: T[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await list(cursor);
    found.push(...page.tools);
    cursor = page.nextCursor;
  }
  return found;
}

export const accept = (content: Content): Reply => ({ action: "accept", content });
