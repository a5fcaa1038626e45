// Type checker: the TypeScript of the user's project behind one small interface, for every generation.
// Versions 5 and 6 are a library with `createProgram`; version 7 is a native program behind its package.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The common names of both generations. Types and symbols are opaque except for these members. */
export interface Checker {
  getSymbolAtLocation(node: object): TypeSymbol | undefined;
  getExportsOfModule(symbol: TypeSymbol): readonly TypeSymbol[];
  getTypeOfSymbol(symbol: TypeSymbol): Type | undefined;
  getAliasedSymbol(symbol: TypeSymbol): TypeSymbol;
  getPropertyOfType(type: Type, name: string): TypeSymbol | undefined;
  getPropertiesOfType(type: Type): readonly TypeSymbol[];
  /** The value type of an index signature has one name or the other. */
  getIndexInfosOfType(type: Type): readonly { readonly valueType?: Type; readonly type?: Type }[];
  getSignaturesOfType(type: Type, kind: number): readonly object[];
  getReturnTypeOfSignature(signature: object): Type | undefined;
  getNonNullableType(type: Type): Type | undefined;
  getTypeArguments(type: Type): readonly Type[];
  isArrayType(type: Type): boolean;
  isTupleType(type: Type): boolean;
  typeToString(type: Type): string;
}

export interface TypeSymbol {
  readonly name: string;
  readonly flags: number;
}

export interface Type {
  readonly flags: number;
  readonly value?: unknown;
  /** The name of a type alias. TypeScript 7 has the function, earlier versions the member. */
  readonly getAliasSymbol?: () => TypeSymbol | undefined;
  readonly aliasSymbol?: unknown;
  getSymbol(): TypeSymbol | undefined;
}

type Flags = Readonly<Record<string, number>>;

export interface TypeProgram {
  readonly checker: Checker;
  /** Numbers differ from version to version; names do not. */
  readonly typeFlags: Flags;
  readonly symbolFlags: Flags;
  /** Members of a union or an intersection. */
  readonly members: (type: Type) => readonly Type[];
  readonly parameterType: (signature: object, index: number) => Type | undefined;
  readonly comment: (symbol: TypeSymbol) => string;
  readonly findExport: (name: string) => Type | undefined;
  /** Type of a name at the top level of the file: declared or imported there. */
  readonly findLocal: (name: string) => Type | undefined;
  /** Number of elements of a tuple without optional and rest elements; null for others. */
  readonly tupleLength: (type: Type) => number | null;
}

export interface TypedFiles {
  readonly buildProgram: (file: string) => TypeProgram | null;
  readonly close: () => void;
}

/** @param folder the project @returns null without a usable TypeScript */
export async function openTypes(folder: string, files: readonly string[]): Promise<TypedFiles | null> {
  const require = createRequire(join(folder, "noop.js"));
  const load = async (name: string): Promise<unknown> => {
    try {
      return await import(pathToFileURL(require.resolve(name)).href);
    } catch {
      return null;
    }
  };
  const native = (await load("typescript/unstable/sync")) as NativePackage | null;
  if (native !== null) return openNative(native, folder, files);
  const library = (await load("typescript")) as { readonly default: LibraryPackage } | null;
  return typeof library?.default?.createProgram === "function" ? openLibrary(library.default, folder, files) : null;
}

function exported(checker: Checker, source: object | undefined, name: string): Type | undefined {
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const symbol = module === undefined ? undefined : checker.getExportsOfModule(module).find((one) => one.name === name);
  return symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol);
}

interface TupleTarget {
  readonly elementFlags?: readonly number[];
}

const REQUIRED_ELEMENT = 1;

function countElements(target: TupleTarget | undefined): number | null {
  const flags = target?.elementFlags;
  return flags?.every((flag) => flag === REQUIRED_ELEMENT) === true ? flags.length : null;
}

function aliased(checker: Checker, { Alias = 0 }: Flags, symbol: TypeSymbol): TypeSymbol {
  return (symbol.flags & Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

interface NativeTuple extends Type {
  getTarget?(): TupleTarget | undefined;
}

interface NativeChecker extends Checker {
  resolveName(name: string, meaning: number, location: object | undefined, noGlobals: boolean): TypeSymbol | undefined;
  getParameterType(signature: object, index: number): Type | undefined;
  getDocumentationCommentOfSymbol(symbol: TypeSymbol): string;
}

interface NativePackage {
  readonly API: new (options: { readonly cwd: string }) => {
    updateSnapshot(changes: { readonly openFiles: readonly string[] }): {
      getDefaultProjectForFile(
        file: string,
      ):
        | { readonly checker: NativeChecker; readonly program: { getSourceFile(file: string): object | undefined } }
        | undefined;
    };
    close(): void;
  };
  readonly TypeFlags: Flags;
  readonly SymbolFlags: Flags;
}

function openNative(native: NativePackage, folder: string, files: readonly string[]): TypedFiles {
  const api = new native.API({ cwd: folder });
  const snapshot = api.updateSnapshot({ openFiles: files });
  return {
    buildProgram(file) {
      const project = snapshot.getDefaultProjectForFile(file);
      if (project === undefined) return null;
      const { checker, program } = project;
      return {
        checker,
        typeFlags: native.TypeFlags,
        symbolFlags: native.SymbolFlags,
        members: (type) => (type as Type & { getTypes(): readonly Type[] }).getTypes(),
        parameterType: (signature, index) => checker.getParameterType(signature, index),
        comment: (symbol) => checker.getDocumentationCommentOfSymbol(symbol),
        findExport: (name) => exported(checker, program.getSourceFile(file), name),
        findLocal(name) {
          const { Value = 0 } = native.SymbolFlags;
          const symbol = checker.resolveName(name, Value, program.getSourceFile(file), true);
          return symbol === undefined
            ? undefined
            : checker.getTypeOfSymbol(aliased(checker, native.SymbolFlags, symbol));
        },
        tupleLength: (type) => countElements((type as NativeTuple).getTarget?.()),
      };
    },
    close: () => api.close(),
  };
}

interface LibraryPackage {
  createProgram(
    files: readonly string[],
    options: object,
  ): { getTypeChecker(): Checker; getSourceFile(file: string): object | undefined };
  findConfigFile(folder: string, exists: (path: string) => boolean): string | undefined;
  readConfigFile(path: string, read: (path: string) => string | undefined): { readonly config?: object };
  parseJsonConfigFileContent(config: object, host: object, folder: string): { readonly options: object };
  displayPartsToString(parts: object): string;
  readonly sys: { fileExists(path: string): boolean; readFile(path: string): string | undefined };
  readonly TypeFlags: Flags;
  readonly SymbolFlags: Flags;
}

const NODE_OPTIONS = { strict: true, target: 99, module: 199, moduleResolution: 99 }; // ESNext, NodeNext

function openLibrary(ts: LibraryPackage, folder: string, files: readonly string[]): TypedFiles {
  const path = ts.findConfigFile(folder, (name) => ts.sys.fileExists(name));
  const config = path === undefined ? undefined : ts.readConfigFile(path, (name) => ts.sys.readFile(name)).config;
  const parsed =
    path === undefined || config === undefined ? null : ts.parseJsonConfigFileContent(config, ts.sys, dirname(path));
  const options = {
    ...(parsed?.options ?? NODE_OPTIONS),
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const common = {
    checker,
    typeFlags: ts.TypeFlags,
    symbolFlags: ts.SymbolFlags,
    members: (type: Type) => (type as Type & { readonly types: readonly Type[] }).types,
    parameterType(signature: object, index: number) {
      const symbol = (signature as { readonly parameters: readonly TypeSymbol[] }).parameters[index];
      return symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol);
    },
    tupleLength: (type: Type) => countElements((type as Type & { readonly target?: TupleTarget }).target),
    comment: (symbol: TypeSymbol) =>
      ts.displayPartsToString((symbol as CommentedSymbol).getDocumentationComment(checker)),
  };
  return {
    buildProgram: (file) => ({
      ...common,
      findExport: (name) => exported(checker, program.getSourceFile(file), name),
      findLocal(name) {
        const { Value = 0 } = ts.SymbolFlags;
        const symbol = (checker as LibraryChecker).resolveName?.(name, program.getSourceFile(file), Value, true);
        return symbol === undefined ? undefined : checker.getTypeOfSymbol(aliased(checker, ts.SymbolFlags, symbol));
      },
    }),
    close: () => undefined,
  };
}

interface LibraryChecker extends Checker {
  /** Internal, and there in every version. */
  resolveName?(name: string, at: object | undefined, meaning: number, noGlobals: boolean): TypeSymbol | undefined;
}

interface CommentedSymbol extends TypeSymbol {
  getDocumentationComment(checker: Checker): object;
}
