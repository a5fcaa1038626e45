// Answer schema: a Zod 4 schema, another Standard Schema with a JSON Schema, or a JSON Schema → the JSON Schema for
// clients, and the parser for the node.
import * as z from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The part of https://standardschema.dev that is used here. Zod from 4.0 on, Valibot and ArkType have it. */
export interface AnswerSchema<Answer = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Answer> | Promise<Validated<Answer>>;
    readonly types?: { readonly input: unknown; readonly output: Answer } | undefined;
  };
}

type Validated<Answer> =
  | { readonly value: Answer; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type Parsed<Answer> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly reason: string };

export interface ReadSchema<Answer> {
  /** Schema of the value that a person sends, before defaults and transformations. */
  readonly json: JsonSchema;
  readonly parse: (value: unknown) => Parsed<Answer>;
}

/** @throws {TypeError} when it has no JSON Schema: then no client could build a form. */
export function readSchema<Answer>(schema: AnswerSchema<Answer> | JsonSchema): ReadSchema<Answer> {
  if (!isStandard<Answer>(schema)) {
    const parser = z.fromJSONSchema(schema) as unknown as AnswerSchema<Answer>;
    return { json: schema, parse: (value) => parsed(parser, value) };
  }
  const { $schema: _dialect, ...json } = toJsonSchema(schema);
  return { json, parse: (value) => parsed(schema, value) };
}

function isStandard<Answer>(schema: object): schema is AnswerSchema<Answer> {
  return "~standard" in schema;
}

function toJsonSchema(schema: AnswerSchema): JsonSchema {
  if (isZod(schema)) return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const { jsonSchema } = schema["~standard"] as {
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => JsonSchema };
  };
  if (jsonSchema !== undefined) return jsonSchema.input({ target: "draft-2020-12" });
  const { vendor } = schema["~standard"];
  throw new TypeError(`this ${vendor} schema has no JSON Schema: use Zod 4, or write the JSON Schema itself`);
}

function isZod(schema: object): schema is z.ZodType {
  return "_zod" in schema;
}

function parsed<Answer>(schema: AnswerSchema<Answer>, value: unknown): Parsed<Answer> {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) throw new TypeError("a schema for answers must not be asynchronous");
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, reason: result.issues.map(issueText).join("; ") };
}

function issueText({ path = [], message }: Issue): string {
  const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
