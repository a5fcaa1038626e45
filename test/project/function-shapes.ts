// The functions of TypeScript sources, by the compiler's syntax tree: name, place, length and parameters. The sources
// come as texts. The compiler sees them as its whole file system and resolves no imports, so it only parses.
import { API } from "typescript/unstable/sync";
import {
  type FunctionLikeDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
  isIdentifier,
} from "typescript/unstable/ast";
import { createVirtualFileSystem } from "typescript/unstable/fs";

export interface FunctionShape {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  /** From the first line of its signature to its last line, comments before it not counted. */
  readonly lines: number;
  readonly parameters: number;
  /** Declared by the file itself: members have the name of their interface, and local functions are seen in place. */
  readonly isDeclared: boolean;
}

const ROOT = "/sources/";
const CONFIG = `${ROOT}tsconfig.json`;
const OPTIONS = { noResolve: true, noLib: true, types: [], allowImportingTsExtensions: true, jsx: "preserve" };
const FUNCTIONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

/** @throws Error when the compiler does not see a file that it was given */
export function functionShapes(sources: ReadonlyMap<string, string>): FunctionShape[] {
  const config = JSON.stringify({ compilerOptions: OPTIONS, files: [...sources.keys()] });
  const files = Object.fromEntries([...sources].map(([path, text]) => [`${ROOT}${path}`, text]));
  const api = new API({ cwd: ROOT, fs: createVirtualFileSystem({ ...files, [CONFIG]: config }) });
  try {
    const program = api.updateSnapshot({ openProjects: [CONFIG] }).getProject(CONFIG)?.program;
    return [...sources.keys()].flatMap((path) => {
      const source = program?.getSourceFile(`${ROOT}${path}`);
      if (source === undefined) throw new Error(`the compiler did not read ${path}`);
      return listShapes(path, source);
    });
  } finally {
    api.close();
  }
}

function listShapes(path: string, source: SourceFile): FunctionShape[] {
  const findLine = lineIndex(source.text);
  const shapes: FunctionShape[] = [];
  const visit = (node: Node, parent?: Node, isInside = false): void => {
    const isFunction = FUNCTIONS.has(node.kind);
    if (isFunction) {
      const { parameters } = node as FunctionLikeDeclaration;
      const line = findLine(node.getStart(source));
      shapes.push({
        path,
        name: readNodeName(node) ?? readNodeName(parent) ?? "(anonymous)",
        line,
        lines: findLine(node.end) - line + 1,
        parameters: parameters.filter(({ name }) => !(isIdentifier(name) && name.text === "this")).length,
        isDeclared:
          !isInside &&
          (node.kind === SyntaxKind.FunctionDeclaration || parent?.kind === SyntaxKind.VariableDeclaration),
      });
    }
    node.forEachChild((child) => visit(child, node, isInside || isFunction));
  };
  visit(source);
  return shapes;
}

function readNodeName(node: Node | undefined): string | undefined {
  const name = (node as { readonly name?: { readonly text?: string } } | undefined)?.name;
  return name?.text;
}

/** Position → line, from 1. */
function lineIndex(text: string): (position: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (position) => {
    const after = starts.findIndex((start) => start > position);
    return after === -1 ? starts.length : after;
  };
}
