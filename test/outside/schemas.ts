// The schemas and linters of other projects' file formats. They weigh 56 MB and serve three tests, so they have a
// folder and a lock file of their own, test/project/schemas.
import { join } from "node:path";
import { nestedProject } from "./nested-project.ts";

const FOLDER = nestedProject("test/project/schemas");
/** Where packages resolve from, also for the compiler. */
export const SCHEMA_MODULES = join(FOLDER, "node_modules");

interface Problem {
  readonly ruleId: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}

export interface Schemas {
  /** The parser of GitHub's own language server. */
  readonly workflows: {
    readonly NoOperationTraceWriter: new () => object;
    readonly parseWorkflow: (
      file: { readonly name: string; readonly content: string },
      trace: object,
    ) => {
      readonly context: { readonly errors: { getErrors(): readonly Error[] } };
      readonly value: object | undefined;
    };
    readonly convertWorkflowTemplate: (context: object, value: object) => Promise<unknown>;
  };
  readonly redocly: {
    readonly createConfig: (config: object) => Promise<object>;
    readonly lintFromString: (options: {
      readonly source: string;
      readonly absoluteRef: string;
      readonly config: object;
    }) => Promise<readonly Problem[]>;
  };
  /** JSON Schema. */
  readonly composeSchema: object;
  /** Kubernetes resources by kind: `new` takes the manifest, `validate` throws. */
  readonly kinds: Readonly<Record<string, new (manifest: unknown) => { validate(): void }>>;
}

export const loadSchemas = async (): Promise<Schemas> => import(join(FOLDER, "index.mjs"));
