// Test of opening a page automatically: only on a screen in use by a person.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browserCommand, type Surroundings } from "./browser.ts";

const AT_A_SCREEN: Surroundings = { wanted: true, terminal: true, env: { DISPLAY: ":0" }, platform: "linux" };

const CASES: readonly (readonly [name: string, Partial<Surroundings>, command: string | null])[] = [
  ["Linux with a screen", {}, "xdg-open"],
  ["Linux with Wayland only", { env: { WAYLAND_DISPLAY: "wayland-0" } }, "xdg-open"],
  ["Linux without a screen", { env: {} }, null],
  ["macOS", { env: {}, platform: "darwin" }, "open"],
  ["Windows", { env: {}, platform: "win32" }, "cmd"],
  ["--no-browser", { wanted: false }, null],
  ["an output that is no terminal", { terminal: false }, null],
  ["CI", { env: { DISPLAY: ":0", CI: "true" } }, null],
  ["CI that is said to be off", { env: { DISPLAY: ":0", CI: "false" } }, "xdg-open"],
];

for (const [name, difference, command] of CASES) {
  test(`${name}: ${command === null ? "no browser is opened" : `${command} opens the page`}`, () => {
    assert.equal(browserCommand({ ...AT_A_SCREEN, ...difference })?.[0] ?? null, command);
  });
}
