// The package that users install, built once for all files of a test run.
//   e2e/build-package.1. As a global set-up (`node --test --test-global-setup`) it builds, and the files use that
//        build: two builds at once would overwrite each other.
//   e2e/build-package.2. A file that runs alone builds for itself.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ROOT } from "../harness/server.ts";

const BUILT = "HOLDPOINT_TEST_PACKAGE_BUILT";

/** Makes package/ and dist/create-holdpoint/. @throws with the output of the build, when it fails */
export async function buildPackage(): Promise<void> {
  if (process.env[BUILT] === "1") return;
  await promisify(execFile)("npm", ["run", "package"], { cwd: ROOT });
}

export async function globalSetup(): Promise<void> {
  await buildPackage();
  process.env[BUILT] = "1"; // the files' processes inherit it
}
