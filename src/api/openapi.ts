// OpenAPI: the operations → one document, from the same schemas that validate requests.
import * as z from "zod";
import { ERROR_CODES, type ErrorCode } from "../base/api-error.ts";
import { takesBody, type AnyOperation } from "./operation.ts";
import { problem } from "./schemas.ts";

type Part = Record<string, unknown>;

export function openApiDocument(operations: readonly AnyOperation[], version: string, prefix: string): Part {
  const components: Record<string, unknown> = {};
  const schemaOf = (schema: z.ZodType, io: "input" | "output"): unknown => {
    const converted = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Part;
    const { $schema: _schema, $defs: definitions, ...rest } = converted;
    for (const [name, definition] of Object.entries((definitions as Part | undefined) ?? {})) {
      components[name] ??= relocate(definition);
    }
    return relocate(rest);
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of operations) {
    (paths[one.path] ??= {})[one.method] = {
      operationId: one.id,
      tags: [one.tag],
      summary: one.summary,
      "x-access": one.access,
      parameters: [...pathParameters(one.path), ...queryParameters(schemaOf(one.query, "input"))],
      ...(takesBody(one)
        ? { requestBody: { content: { "application/json": { schema: schemaOf(one.body, "input") } } } }
        : {}),
      responses: { ...success(one, schemaOf), ...refusals(one, schemaOf) },
    };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Holdpoint agent server", version, license: { name: "Apache-2.0" } },
    ...(prefix === "" ? {} : { servers: [{ url: prefix }] }),
    paths,
    components: { schemas: components },
  };
}

/** JSON Schema keeps shared definitions in `$defs`, OpenAPI in `components`. */
function relocate(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function pathParameters(path: string): readonly Part[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: name === "assistant_id" || name === "namespace" ? { type: "string" } : { type: "string", format: "uuid" },
  }));
}

function queryParameters(schema: unknown): readonly Part[] {
  const properties = (schema as { readonly properties?: Part }).properties ?? {};
  return Object.entries(properties).map(([name, property]) => ({ name, in: "query", schema: property }));
}

type SchemaOf = (schema: z.ZodType, io: "input" | "output") => unknown;

function success(one: AnyOperation, schemaOf: SchemaOf): Part {
  const { status, description, schema } = one.reply;
  const content = schema === null ? {} : { content: { "application/json": { schema: schemaOf(schema, "input") } } };
  return { [String(status)]: { description, ...content } };
}

function refusals(one: AnyOperation, schemaOf: SchemaOf): Part {
  const codes: readonly ErrorCode[] = [
    ...one.refusals,
    "internal_error",
    ...(takesBody(one)
      ? (["malformed_json", "invalid_request", "body_too_large", "unsupported_media_type"] as const)
      : []),
  ];
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code][0]);
  const content = { "application/problem+json": { schema: schemaOf(problem, "output") } };
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [String(status), { description: group.join(", "), content }]),
  );
}
