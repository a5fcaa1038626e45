// OpenAPI: the operations → one document, from the same schemas that validate requests.
import * as z from "zod";
import { ERROR_CODES, type ErrorCode } from "@holdpoint/base/api-error.ts";
import type { Note } from "../notes/note.ts";
import { NOTES, PATH_EXAMPLES, TAGS } from "../notes/notes.ts";
import { takesBody, type AnyOperation } from "../operation.ts";
import { problem } from "../schemas.ts";

type Part = Record<string, unknown>;

const DESCRIPTION =
  "LangGraph Server API with durable human-in-the-loop pauses. A refused call returns a problem (RFC 9457) with a stable `code`.";

/** A server without configured authentication needs neither. */
const SECURITY_SCHEMES = {
  apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "A key of HOLDPOINT_API_KEYS." },
  bearer: { type: "http", scheme: "bearer", description: "A key, or the token that the handlers of auth.path expect." },
};

const withExample = (example: unknown): Part => (example === undefined ? {} : { example });

export function openApiDocument(operations: readonly AnyOperation[], version: string, prefix: string): Part {
  const components: Record<string, unknown> = {};
  const toSchema = (schema: z.ZodType, io: "input" | "output"): unknown => {
    const converted = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Part;
    const { $schema: _schema, $defs: definitions, ...rest } = converted;
    for (const [name, definition] of Object.entries((definitions as Part | undefined) ?? {})) {
      components[name] ??= relocate(definition);
    }
    return relocate(rest);
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of operations) {
    const note = NOTES[one.id] ?? { description: `${one.summary}.` };
    (paths[one.path] ??= {})[one.method] = {
      operationId: one.id,
      tags: [one.tag],
      summary: one.summary,
      description: note.description,
      ...(one.access === "public" ? { security: [] } : {}),
      "x-access": one.access,
      parameters: [...pathParameters(one.path), ...queryParameters(toSchema(one.query, "input"), note.query ?? {})],
      ...(takesBody(one)
        ? {
            requestBody: {
              required: true,
              content: { "application/json": { schema: toSchema(one.body, "input"), ...withExample(note.body) } },
            },
          }
        : {}),
      responses: { ...success(one, note, toSchema), ...refusals(one, toSchema) },
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdpoint agent server",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: prefix === "" ? "/" : prefix }],
    security: [{ apiKey: [] }, { bearer: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components, securitySchemes: SECURITY_SCHEMES },
  };
}

/** JSON Schema keeps shared definitions in `$defs`, OpenAPI in `components`. */
function relocate(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** Parameters of paths that are no UUIDs. */
const TEXTS = new Set(["assistant_id", "namespace", "interrupt_id", "person"]);

function pathParameters(path: string): readonly Part[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    ...withExample(PATH_EXAMPLES[name ?? ""]),
    schema: TEXTS.has(name ?? "") ? { type: "string" } : { type: "string", format: "uuid" },
  }));
}

function queryParameters(schema: unknown, examples: Readonly<Record<string, string>>): readonly Part[] {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Part;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: "query",
    ...(required.includes(name) ? { required: true } : {}),
    ...(isList(property) ? { style: "form", explode: false } : {}),
    ...withExample(typed(examples[name], property)),
    schema: property,
  }));
}

const isList = (schema: unknown): boolean => (schema as { readonly type?: unknown }).type === "array";

/** An example as the type of its parameter: a query is text, and its schema may say integer. */
function typed(example: string | undefined, schema: unknown): unknown {
  const { type } = schema as { readonly type?: unknown };
  if (example !== undefined && isList(schema)) return example.split(",");
  return example !== undefined && (type === "integer" || type === "number") ? Number(example) : example;
}

type SchemaOf = (schema: z.ZodType, io: "input" | "output") => unknown;

function success(one: AnyOperation, { media = "application/json", reply }: Note, toSchema: SchemaOf): Part {
  const { status, description, schema } = one.reply;
  const shape = media === "application/json" ? toSchema(schema ?? z.unknown(), "input") : { type: "string" };
  const content = schema === null ? {} : { content: { [media]: { schema: shape, ...withExample(reply) } } };
  return { [String(status)]: { description, ...content } };
}

const BODY_REFUSALS = [
  "malformed_json",
  "invalid_request",
  "body_too_large",
  "member_too_large",
  "unsupported_media_type",
  "overloaded",
] as const;

function refusals(one: AnyOperation, toSchema: SchemaOf): Part {
  const codes = new Set<ErrorCode>([
    ...one.refusals,
    ...(one.access === "public" ? [] : (["unauthenticated", "forbidden"] as const)),
    "internal_error",
    ...(takesBody(one) ? BODY_REFUSALS : []),
  ]);
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code][0]);
  const content = { "application/problem+json": { schema: toSchema(problem, "output") } };
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [String(status), { description: group.join(", "), content }]),
  );
}
