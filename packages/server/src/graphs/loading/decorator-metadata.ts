// Decorator metadata: `emitDecoratorMetadata` of tsconfig.json. esbuild has no types and cannot write it, so a file
// with decorators goes through the project's own typescript (5 or 6) first; 7 has no such function.
// Rules:
//   - Only files that have decorators, in a project with the option, take this way. What esbuild made of the file
//     tells: an `@` in the source may be in a comment, a text, a pattern or JSX.
//   - Without a compiler such a file fails with an error that names the option: code that reads metadata would fail
//     later, without a hint of the cause.
import { createRequire } from "node:module";

interface Options {
  readonly emitDecoratorMetadata?: boolean;
  readonly experimentalDecorators?: boolean;
}

interface TypeScript {
  convertCompilerOptionsFromJson(options: object, folder: string): { readonly options: object };
  transpileModule(
    text: string,
    input: { readonly fileName: string; readonly compilerOptions: object },
  ): {
    readonly outputText: string;
  };
}

export const NO_COMPILER =
  "emitDecoratorMetadata of tsconfig.json needs TypeScript 5 or 6 in the project: run npm install typescript@5, or remove the option";

/** How esbuild begins the function that applies decorators; a file with a variable of that name gets a number after it. */
const APPLIES_DECORATORS = /^var __decorateClass\d* = \(decorators, target, key, kind\) => \{$/m;

/** @param code the file as esbuild compiles it */
export function wantsMetadata(code: string, { emitDecoratorMetadata, experimentalDecorators }: Options): boolean {
  return emitDecoratorMetadata === true && experimentalDecorators === true && APPLIES_DECORATORS.test(code);
}

/** JavaScript, perhaps with JSX, and an inline source map; null without a compiler. */
export function withMetadata(path: string, text: string, given: object): string | null {
  const ts = findTypescript(path);
  if (ts === null) return null;
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...given, target: "ESNext", module: "ESNext", jsx: "preserve", inlineSourceMap: true },
    path,
  );
  const compilerOptions = { ...options, sourceMap: false, isolatedModules: true, declaration: false };
  return ts.transpileModule(text, { fileName: path, compilerOptions }).outputText;
}

function findTypescript(path: string): TypeScript | null {
  try {
    const found = createRequire(path)("typescript") as TypeScript;
    return typeof found.transpileModule === "function" ? found : null;
  } catch {
    return null;
  }
}
