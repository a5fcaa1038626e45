// The package that users install, built once for all files of a test run.
//   e2e/build-package.1. Two builds at once would overwrite each other: a run of the suite builds once, and its files use
//        that build, or the one that HOLDPOINT_TEST_PACKAGE_BUILT=1 says is there.
//   e2e/build-package.2. A file that runs alone builds for itself.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ROOT } from "../harness/server.ts";

const BUILT = "HOLDPOINT_TEST_PACKAGE_BUILT";

/** Makes package/ and dist/create-holdpoint/. @throws with the output of the build, when it fails */
export async function buildPackage(): Promise<void> {
  if (process.env[BUILT] === "1") return;
  await promisify(execFile)("npm", ["run", "package"], { cwd: ROOT });
  process.env[BUILT] = "1"; // the processes of a run inherit it
}
