// Image: what an engine makes of a Dockerfile, without an engine. A stage is a folder with exactly the files that the
// COPY lines and the ignore rules let in; its commands see that folder as `/`, with the programs of this machine below
// it, and run on the tests' Node. An image that runs has a read-only root, a user, and a volume. Needs root and Linux.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, cpSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, posix } from "node:path";
import { promisify } from "node:util";
import { type Instruction, listContext, parseDockerfile, type Stage } from "./dockerfile.ts";

export interface Image {
  /** The folder that is `/` in the image. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  /** The beginning of its command. */
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Path in the image → a folder of this machine in its place, which nothing changes. */
  readonly linked: ReadonlyMap<string, string>;
}

export const missingImages =
  process.platform === "linux" && process.getuid?.() === 0 ? false : "it needs root, to mount and to be another user";

/** Programs, certificates and npm's own settings. */
const MACHINE = ["/usr", "/etc", "/dev", "/proc", homedir()];
const NODE = "/usr-of-the-image";

export interface Build {
  readonly dockerfile: string;
  /** Text of the ignore file. */
  readonly ignore: string;
  readonly context: string;
  /** Images by name, as FROM finds them; every other name is a system with Node. */
  readonly images: Readonly<Record<string, Image>>;
  /** For the stages. */
  readonly folder: string;
  /** Installed packages that take the place of each `npm ci`, which then only reads its files; null: it installs. */
  readonly packages: string | null;
}

/** The last stage. @throws with the output of a step that fails */
export async function buildImage(build: Build): Promise<Image> {
  const files = listContext(build.context, build.ignore);
  const stages = new Map<string, Promise<Image>>();
  const of = (name: string): Promise<Image> => stages.get(name) ?? Promise.reject(new Error(`no stage ${name}`));
  let last = Promise.reject<Image>(new Error("no stage"));
  last.catch(() => undefined);
  for (const stage of parseDockerfile(readFileSync(build.dockerfile, "utf8"))) {
    last = buildStage(build, stage, files, of);
    last.catch(() => undefined); // the last stage reports it
    stages.set(stage.name, last);
  }
  return last;
}

async function buildStage(
  { images, folder, context, packages }: Build,
  { base, instructions }: Stage,
  files: readonly string[],
  of: (name: string) => Promise<Image>,
): Promise<Image> {
  const root = mkdtempSync(join(folder, "stage-"));
  chmodSync(root, 0o755); // other users enter it
  const from = images[base];
  if (from === undefined) makeSystem(root);
  else await promisify(execFile)("cp", ["-a", `${from.root}/.`, root]);
  let image: Image = {
    workdir: "/",
    env: {},
    user: "0:0",
    entrypoint: [],
    command: [],
    linked: new Map(),
    ...from,
    root,
  };
  for (const one of instructions) {
    if (one.name === "COPY") image = await copy(one, image, { context, files }, of);
    else if (packages !== null && one.text.startsWith("npm ci ")) image = await link(image, packages);
    else image = await step(image, one);
  }
  return image;
}

function makeSystem(root: string): void {
  for (const path of [...MACHINE, NODE, "/tmp"]) mkdirSync(join(root, path), { recursive: true });
  for (const name of ["bin", "lib", "lib64", "sbin"])
    if (lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      symlinkSync(`usr/${name}`, join(root, name));
}

async function step(image: Image, { name, text, exec }: Instruction): Promise<Image> {
  const { root, workdir, env, command } = image;
  switch (name) {
    case "WORKDIR":
      mkdirSync(join(root, text), { recursive: true });
      return { ...image, workdir: posix.resolve(workdir, text) };
    case "ENV":
      return { ...image, env: { ...env, ...Object.fromEntries(text.split(/\s+/).map((pair) => pair.split("="))) } };
    case "USER":
      return { ...image, user: text };
    case "RUN":
      await runStep(image, exec ?? ["/bin/sh", "-c", text]);
      return image;
    case "ENTRYPOINT":
      return { ...image, entrypoint: exec ?? [], command: exec ?? [] };
    case "CMD":
      return { ...image, command: [...command, ...(exec ?? [])] };
    case "VOLUME":
    case "EXPOSE":
    case "HEALTHCHECK":
      return image;
    default:
      throw new Error(`${name} is not known here`);
  }
}

/** The packages as if they were installed. npm compares its files, and finds the packages that they name. */
async function link(image: Image, packages: string): Promise<Image> {
  await runStep(image, ["npm", "ci", "--ignore-scripts", "--dry-run"]);
  return linkFolder(image, posix.join(image.workdir, "node_modules"), packages);
}

function linkFolder(image: Image, path: string, folder: string): Image {
  mkdirSync(join(image.root, path), { recursive: true });
  return { ...image, linked: new Map([...image.linked, [path, folder]]) };
}

/** As an engine does: a folder's content, a file under its name, and a pattern that may fit nothing beside others. */
async function copy(
  { text }: Instruction,
  image: Image,
  { context, files }: { readonly context: string; readonly files: readonly string[] },
  of: (name: string) => Promise<Image>,
): Promise<Image> {
  const [, stage, paths = ""] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(text) ?? [];
  const sources = paths.split(/\s+/);
  const to = sources.pop() ?? "";
  const target = join(image.root, posix.resolve(image.workdir, to));
  if (stage !== undefined) {
    const { root, linked } = await of(stage);
    mkdirSync(target, { recursive: true });
    for (const source of sources) {
      const folder = linked.get(source);
      if (folder !== undefined) return linkFolder(image, posix.resolve(image.workdir, to), folder);
      await promisify(execFile)("cp", ["-a", `${join(root, source)}/.`, target]);
    }
    return image;
  }
  for (const source of sources) {
    const found = files.filter((file) => source === "." || file === source || file.startsWith(`${source}/`));
    const fitting =
      found.length > 0 ? found : files.filter((file) => globSync(source, { cwd: context }).includes(file));
    if (fitting.length === 0 && !source.includes("*"))
      throw new Error(`COPY ${source}: not found in the build context`);
    for (const file of fitting) {
      const isFile = file === source || found.length === 0;
      const name = isFile
        ? to.endsWith("/")
          ? basename(file)
          : ""
        : source === "."
          ? file
          : file.slice(source.length);
      cpSync(join(context, file), join(target, name));
    }
  }
  return image;
}

async function runStep(image: Image, command: readonly string[]): Promise<void> {
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  const env = { ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates }), ...image.env };
  const child = inside(image, command, { env, user: image.user, prepare: "" });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`RUN ${command.join(" ")} ended with ${String(code)}:\n${output}`);
}

/** Its command, or another, as its user on a read-only root. */
export function startImage(
  image: Image,
  options: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Path in the image → a folder of this machine that it may write to. */
    readonly volumes: Readonly<Record<string, string>>;
  },
): ChildProcess {
  const volumes = Object.entries(options.volumes);
  const prepare = [
    'mount -o remount,ro,bind "$ROOT"',
    ...volumes.map(([to, from]) => `mount --bind "${from}" "$ROOT${to}"`),
  ];
  const command = options.args === undefined ? image.command : [...image.entrypoint, ...options.args];
  return inside(image, command, {
    env: { ...image.env, ...options.env },
    user: image.user,
    prepare: prepare.join("\n"),
  });
}

/** In a mount namespace of its own, which ends with the process. */
function inside(
  { root, workdir, linked }: Image,
  command: readonly string[],
  {
    env,
    user,
    prepare,
  }: { readonly env: Readonly<Record<string, string>>; readonly user: string; readonly prepare: string },
): ChildProcess {
  const [uid = "0", gid = "0"] = user.split(":");
  const script = [
    "set -e",
    'mount --bind "$ROOT" "$ROOT"',
    ...MACHINE.map((path) => `mount --rbind ${path} "$ROOT${path}"`),
    `mount --bind "${dirname(process.execPath)}" "$ROOT${NODE}"`,
    prepare,
    ...[...linked].flatMap(([path, folder]) => [
      `mount --bind "${folder}" "$ROOT${path}"`,
      `mount -o remount,ro,bind "$ROOT${path}"`,
    ]),
    'exec chroot "$ROOT" setpriv --reuid="$ID" --regid="$GROUP" --clear-groups --no-new-privs env -i "$@"',
  ].join("\n");
  const variables = { PATH: `${NODE}:/usr/local/bin:/usr/bin:/bin`, HOME: homedir(), ...env };
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const args = [...pairs, "sh", "-c", 'cd "$0" && exec "$@"', workdir, ...command];
  return spawn("unshare", ["--mount", "sh", "-c", script, "sh", ...args], {
    env: { PATH: process.env["PATH"], ROOT: root, ID: uid, GROUP: gid },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
