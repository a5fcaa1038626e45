// Config keys: every key of langgraph.json without effect here → the reason, and the replacement.
// Rules:
//   - A key for building an image, or for Python, has no effect, and a warning names its replacement.
//   - A key whose loss would weaken a promise of the deployment stops the server.
//   - A mistyped key names the known one that it resembles.
import { nearestName } from "./nearest-name.ts";

/** Present in every project, and without meaning for a server that runs on an installed Node and packages. */
const SILENT = new Set(["$schema", "dependencies", "node_version"]);

const IMAGE = "it belongs to building an image: write it into your Dockerfile (docs/how-to/deploy.md)";
const FROM = "it belongs to building an image: name the image in FROM of your Dockerfile (docs/how-to/deploy.md)";
const PYTHON = "it belongs to Python graphs, and this server runs LangGraph.js graphs";

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  dockerfile_lines: IMAGE,
  base_image: FROM,
  image_distro: FROM,
  _INTERNAL_docker_tag: IMAGE,
  docker_compose_file: "add the services to deploy/compose.yaml (docs/how-to/deploy.md)",
  api_version: 'it names an image of another server: the version of this one is that of "holdpoint" in package.json',
  node_loader: "this server compiles TypeScript and JSX itself, as tsconfig.json says",
  priority: "it names a Python function: here answers start first, and then each caller has its turn",
  python_version: PYTHON,
  pip_config_file: PYTHON,
  pip_installer: PYTHON,
  keep_pkg_tools: PYTHON,
  source: PYTHON,
};

const REFUSED: Readonly<Record<string, string>> = {
  encryption: "this server runs no encryption handlers: remove the key, and set HOLDPOINT_ENCRYPTION_KEYS",
};

/** @returns null for a key with an effect elsewhere, or one that needs no warning */
export function keyRemark(key: string, value: unknown, handled: ReadonlySet<string>): string | null {
  if (handled.has(key) || SILENT.has(key) || isEmpty(value)) return null;
  const why = WITHOUT_EFFECT[key];
  return why === undefined ? unknownKey("", key, handled) : `"${key}" has no effect: ${why}`;
}

/** @param section with its dot: `http.` */
export function unknownKey(section: string, key: string, known: Iterable<string>): string {
  const meant = nearestName(key, known);
  const hint = meant === null ? "" : `: did you mean "${section}${meant}"?`;
  return `"${section}${key}" is not a known key and has no effect${hint}`;
}

export function keyRefusal(key: string, value: unknown): string | null {
  const why = REFUSED[key];
  return why === undefined || isEmpty(value) ? null : `${key}: ${why}`;
}

/** Warnings for the keys of a section. @param withoutEffect known keys → the reason and the replacement */
export function sectionRemarks(
  name: string,
  section: object | null | undefined,
  known: ReadonlySet<string>,
  withoutEffect: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(section ?? {}).flatMap((key) => {
    if (known.has(key)) return [];
    const why = withoutEffect[key];
    return why === undefined ? unknownKey(`${name}.`, key, known) : `"${name}.${key}" has no effect: ${why}`;
  });
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
