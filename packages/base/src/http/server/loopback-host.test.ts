// Tests of the loopback Host check: loopback-host.1 names, loopback-host.2 the form of the Host header, loopback-host.3
// other sites.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../api-error.ts";
import { checkHost, checkSite, type HostRules } from "./loopback-host.ts";
import { createCors, LOOPBACK_CORS } from "./cors.ts";

function catchCode(check: () => void): string {
  try {
    check();
    return "passes";
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error);
  }
}

const hostCode = (hosts: readonly string[], rules: HostRules): string =>
  catchCode(() =>
    checkHost(
      {
        rawHeaders: hosts.flatMap((host, at) => [at === 0 ? "Host" : "HOST", host]),
        headers: hosts[0] === undefined ? {} : { host: hosts[0] },
      },
      rules,
    ),
  );

const HERE: HostRules = { loopback: true, allowed: null };
const HERE_TOO: HostRules = { loopback: true, allowed: ["host.docker.internal", "*.test.example"] };
const ANYWHERE: HostRules = { loopback: false, allowed: null };
const LISTED: HostRules = { loopback: false, allowed: ["api.example.com", "*.pods.local"] };

const HOSTS: readonly (readonly [rules: HostRules, hosts: readonly string[], code: string])[] = [
  [HERE, ["localhost:2024"], "passes"],
  [HERE, ["[::1]"], "passes"],
  [HERE, ["evil.example:2024"], "forbidden_host"],
  [HERE, ["10.0.0.1"], "forbidden_host"],
  [HERE, [], "forbidden_host"],
  [HERE_TOO, ["Host.Docker.Internal:4318"], "passes"],
  [HERE_TOO, ["a.b.test.example"], "passes"],
  [HERE_TOO, ["test.example"], "forbidden_host"],
  [HERE_TOO, ["eviltest.example"], "forbidden_host"],
  [HERE_TOO, ["host.docker.internal.evil.example"], "forbidden_host"],
  [ANYWHERE, ["evil.example"], "passes"],
  [ANYWHERE, [], "passes"], // HTTP/1.0 probes send none
  [LISTED, ["api.example.com:8000"], "passes"],
  [LISTED, ["10.1.2.3:8000"], "passes"],
  [LISTED, ["[fd00::1]:8000"], "passes"],
  [LISTED, ["localhost"], "passes"],
  [LISTED, ["evil.example"], "forbidden_host"],
  [ANYWHERE, ["api.example.com", "api.example.com"], "malformed_request"],
  [HERE, ["localhost", "evil.example"], "malformed_request"],
  ...["x/public?", "x/public", "x?a", "x#a", "user@x", "x:1:2", "x:", "x y", "", "x\\y", "a%2fb"].map(
    (host) => [ANYWHERE, [host], "malformed_request"] as const,
  ),
];

for (const [rules, hosts, code] of HOSTS) {
  test(`Host ${JSON.stringify(hosts)} with ${JSON.stringify(rules)}: ${code} (loopback-host.1, loopback-host.2)`, () => {
    assert.equal(hostCode(hosts, rules), code);
  });
}

const ORIGIN = "https://app.example.com";
const SITES: readonly (readonly [method: string, headers: Record<string, string>, passes: boolean])[] = [
  ["POST", {}, true],
  ["POST", { origin: ORIGIN, host: "app.example.com" }, true],
  ["POST", { origin: "http://app.example.com:8080", host: "app.example.com:8080" }, true],
  ["POST", { origin: "http://app.example.com:8080", host: "app.example.com" }, false],
  ["POST", { origin: ORIGIN, host: "localhost:2024" }, false], // over plain HTTP, browsers send no Sec-Fetch-Site
  ["POST", { origin: "null", host: "localhost" }, false],
  ["POST", { origin: ORIGIN, "sec-fetch-site": "same-origin" }, true],
  ["POST", { "sec-fetch-site": "none" }, true],
  ["POST", { origin: ORIGIN, "sec-fetch-site": "cross-site" }, false],
  ["POST", { origin: ORIGIN, "sec-fetch-site": "same-site" }, false],
  ["DELETE", { origin: ORIGIN, "sec-fetch-site": "cross-site" }, false],
  ["POST", { origin: "null", "sec-fetch-site": "cross-site" }, false],
  ["POST", { "sec-fetch-site": "cross-site" }, false],
  ["GET", { "sec-fetch-site": "cross-site" }, true],
  ["POST", { origin: "http://localhost:3000", "sec-fetch-site": "cross-site" }, true],
  ["POST", { origin: "http://localhost:3000", "sec-fetch-site": "same-site", host: "localhost:2024" }, true],
];

for (const [method, headers, passes] of SITES) {
  test(`${method} with ${JSON.stringify(headers)} ${passes ? "passes" : "is rejected"} (loopback-host.3)`, () => {
    const code = catchCode(() => checkSite({ method, headers }, createCors(LOOPBACK_CORS).allows, "ask"));
    assert.equal(code, passes ? "passes" : "forbidden_origin");
  });
}
