// The surface of the official client, read from its own type declarations: methods, and options of methods.
import { Client } from "@langchain/langgraph-sdk";
import { openTypes, type Type, type TypeProgram } from "@holdpoint/server/graphs/schemas/type-checker.ts";
import { ROOT } from "../../harness/server.ts";

export const PARTS = ["assistants", "threads", "runs", "crons", "store"] as const;

const CALL_SIGNATURES = 0;
const PARAMETERS_MAX = 6;

/** Parts of the handle that `client.threads.stream()` returns. */
const MODULES = ["run", "agent", "input", "state"];

/** @returns `runs.cancel` for a method, `runs.cancel.reason` for an option of any of its forms; sorted */
export function readSurface(): Promise<readonly string[]> {
  return readTypes((program, findPart) =>
    PARTS.flatMap((part) => nameAll(program, findPart(part), part, listMethods(part))),
  );
}

/** @returns the same for the handle of a thread: `stream.values`, `stream.run.start`, `stream.run.start.input`; sorted */
export function readStreamSurface(): Promise<readonly string[]> {
  return readTypes((program, findPart) => {
    const { checker } = program;
    const stream = findPart("stream");
    const names = checker.getPropertiesOfType(stream).flatMap(({ name }) => (/^\w+$/.test(name) ? [name] : []));
    const modules = names.filter((name) => MODULES.includes(name));
    const others = names.filter((name) => !MODULES.includes(name));
    const below = modules.flatMap((module) => {
      const symbol = checker.getPropertyOfType(stream, module);
      const type = symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol);
      if (type === undefined) throw new Error(`the declarations have no ${module}`);
      const methods = checker.getPropertiesOfType(type).map(({ name }) => name);
      return nameAll(program, type, `stream.${module}`, methods);
    });
    return [...nameAll(program, stream, "stream", others), ...below];
  });
}

function nameAll(program: TypeProgram, type: Type, part: string, methods: readonly string[]): readonly string[] {
  return methods.flatMap((method) => [
    `${part}.${method}`,
    ...[...listOptions(program, type, method)].map((option) => `${part}.${method}.${option}`),
  ]);
}

/** @param read names of what the file exports */
async function readTypes(
  read: (program: TypeProgram, findPart: (part: string) => Type) => readonly string[],
): Promise<readonly string[]> {
  const file = new URL("./clients.ts", import.meta.url).pathname;
  const files = await openTypes(ROOT, [file]);
  const program = files?.buildProgram(file) ?? null;
  if (files === null || program === null) throw new Error("the types of the client cannot be read");
  try {
    const findPart = (part: string): Type => {
      const type = program.findExport(part);
      if (type === undefined) throw new Error(`the client has no ${part}`);
      return type;
    };
    return [...new Set(read(program, findPart))].toSorted();
  } finally {
    files.close();
  }
}

export function listMethods(part: (typeof PARTS)[number]): readonly string[] {
  const client = new Client({ apiUrl: "http://localhost", apiKey: null });
  return Object.getOwnPropertyNames(Object.getPrototypeOf(client[part])).filter((name) => name !== "constructor");
}

function listOptions(program: TypeProgram, type: Type, method: string): ReadonlySet<string> {
  const { checker } = program;
  const options = new Set<string>();
  const symbol = checker.getPropertyOfType(type, method);
  const methodType = symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol);
  if (methodType === undefined) throw new Error(`the declarations have no ${method}`);
  for (const signature of checker.getSignaturesOfType(methodType, CALL_SIGNATURES)) {
    for (let at = 0; at < PARAMETERS_MAX; at++) {
      const parameter = program.parameterType(signature, at);
      if (parameter !== undefined) for (const name of listMembers(program, parameter)) options.add(name);
    }
  }
  return options;
}

/** Not objects of options: a value of its own. */
const VALUES = new Set(["AbortSignal", "Record", "Checkpoint", "Metadata", "Promise"]);

function listMembers(program: TypeProgram, type: Type): readonly string[] {
  const { checker, typeFlags } = program;
  const alias = type.getAliasSymbol?.()?.name;
  if (alias !== undefined && VALUES.has(alias)) return [];
  if ((type.flags & (typeFlags["Union"] ?? 0)) !== 0) {
    return program.members(type).flatMap((member) => listMembers(program, member));
  }
  if (checker.isArrayType(type)) {
    return checker.getTypeArguments(type).flatMap((item) => listMembers(program, item));
  }
  const isObject = (type.flags & ((typeFlags["Object"] ?? 0) | (typeFlags["Intersection"] ?? 0))) !== 0;
  if (!isObject || VALUES.has(type.getSymbol()?.name ?? "")) return [];
  return checker.getPropertiesOfType(type).map(({ name }) => name);
}
