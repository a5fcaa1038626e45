// Tests of allowed destinations: addresses (public-address.1, public-address.2) and URLs (outbound-url.1).
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isAllowedAddress, networks } from "./public-address.ts";
import { checkOutboundUrl, type OutboundRules } from "./outbound-url.ts";

const NONE = networks([]);

const INSIDE: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  "this host": ["0.0.0.0", "0.1.2.3", "::"],
  private: ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
  "link-local and metadata services": ["169.254.0.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254"],
  "unique local and site-local": ["fc00::1", "fdff::1", "fec0::1"],
  "multicast, reserved, broadcast": ["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "ff02::1"],
  "documentation and benchmarks": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1", "3fff::1"],
  "IPv4 in IPv6": ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:8.8.8.8"],
  NAT64: ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1"],
  "6to4 and Teredo": ["2002:7f00:1::1", "2002:808:808::1", "2001::1", "2001:0:7f00:1::1", "192.88.99.1"],
  "no address": ["", "localhost", "256.1.1.1", "1.2.3", "example.com", "0x7f.1", "2130706433"],
};

suite("addresses that are not public are rejected (public-address.1)", () => {
  for (const [what, addresses] of Object.entries(INSIDE)) {
    test(what, () => {
      for (const address of addresses) assert.equal(isAllowedAddress(address, NONE), false, address);
    });
  }
});

test("public addresses are allowed", () => {
  const edges = ["9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1"];
  const more = ["169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "198.17.0.1", "198.20.0.1"];
  const v6 = ["2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "2400:cb00::1"];
  for (const address of ["1.1.1.1", "8.8.8.8", "223.255.255.255", ...edges, ...more, ...v6]) {
    assert.equal(isAllowedAddress(address, NONE), true, address);
  }
});

test("an allowed network is accepted in every form, and no other address (public-address.2)", () => {
  const open = networks(["10.1.0.0/16", "127.0.0.1", "fd00::/8"]);
  for (const address of ["10.1.2.3", "127.0.0.1", "fd12::1", "::ffff:10.1.2.3", "::ffff:7f00:1"]) {
    assert.equal(isAllowedAddress(address, open), true, address);
  }
  for (const address of ["10.2.0.1", "127.0.0.2", "fc00::1", "::ffff:10.2.0.1", "::1"]) {
    assert.equal(isAllowedAddress(address, open), false, address);
  }
  for (const wrong of ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x", "all", "10.0.0/8", ""]) {
    assert.throws(() => networks([wrong]), /is not a network/, wrong);
  }
});

const STRICT: OutboundRules = { requireHttps: true, domains: null, ports: null, urlUnitsMax: 2048, networks: [] };
const LOCAL: OutboundRules = { ...STRICT, requireHttps: false, networks: ["127.0.0.0/8", "::1"] };
const NARROW: OutboundRules = { ...STRICT, domains: ["hooks.example.com", "*.example.org"], ports: [443, 8443] };

const URLS: readonly (readonly [rules: OutboundRules, url: string, refused: RegExp | null])[] = [
  [STRICT, "https://example.com/hook?x=1", null],
  [STRICT, "https://1.1.1.1:8443/", null],
  [STRICT, "https://[2606:4700::1111]/", null],
  [STRICT, "http://example.com/", /only https/],
  [STRICT, "ftp://example.com/", /ftp: is not supported/],
  [STRICT, "file:///etc/passwd", /file: is not supported/],
  [STRICT, "/webhook", /names a route/],
  [STRICT, "//example.com/x", /names a route/],
  [STRICT, "example.com", /not an absolute URL/],
  [STRICT, "https://", /not an absolute URL/],
  [STRICT, "https://user@example.com/", /credentials/],
  [STRICT, "https://:secret@example.com/", /credentials/],
  [STRICT, `https://example.com/${"x".repeat(2048)}`, /more than 2048/],
  // One address in all its notations (outbound-url.1).
  ...[
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.1",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "127.0.0.1.",
  ].map((host) => [STRICT, `https://${host}/`, /not a public address/] as const),
  ...["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[64:ff9b::7f00:1]"].map(
    (host) => [STRICT, `https://${host}/`, /not a public address/] as const,
  ),
  ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "169.254.169.254", "0", "0.0.0.0", "10.0.0.1"].map(
    (host) => [STRICT, `https://${host}:8080/x`, /not a public address/] as const,
  ),
  [LOCAL, "http://127.0.0.1:3000/hook", null],
  [LOCAL, "http://localhost:3000/hook", null],
  [LOCAL, "http://[::1]:3000/hook", null],
  [LOCAL, "http://10.0.0.1/", /not a public address/],
  [LOCAL, "http://user:x@127.0.0.1/", /credentials/],
  [NARROW, "https://hooks.example.com/", null],
  [NARROW, "https://HOOKS.example.com:8443/", null],
  [NARROW, "https://a.example.org/", null],
  [NARROW, "https://a.b.example.org/", null],
  [NARROW, "https://example.org/", /host .* is not allowed/],
  [NARROW, "https://badexample.org/", /host .* is not allowed/],
  [NARROW, "https://hooks.example.com.evil.test/", /host .* is not allowed/],
  [NARROW, "https://1.1.1.1/", /host .* is not allowed/],
  [NARROW, "https://hooks.example.com:22/", /port 22/],
];

suite("URLs", () => {
  for (const [rules, url, refused] of URLS) {
    const how = rules === STRICT ? "by default" : rules === LOCAL ? "with loopback open" : "with a list of names";
    test(`${url.slice(0, 60)} is ${refused === null ? "allowed" : "rejected"} ${how}`, () => {
      const checked = checkOutboundUrl(url, rules);
      assert.equal(checked.kind, refused === null ? "allowed" : "refused", JSON.stringify(checked));
      if (checked.kind === "refused" && refused !== null) assert.match(checked.reason, refused);
    });
  }
});
