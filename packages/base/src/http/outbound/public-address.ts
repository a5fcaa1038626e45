// Public addresses: which IP addresses are on the public internet. Pure. Guards requests to destinations that outside
// callers choose: a non-public address may be internal.
// Invariants:
//   public-address.1. Unknown counts as non-public: IPv6 only from the global unicast range, without ranges that tunnel
//        IPv4.
//   public-address.2. An address of an explicitly allowed network passes, in every notation.
import { BlockList, isIP } from "node:net";

/** IANA's special-purpose registries: everything that is not an ordinary public address. */
const NOT_PUBLIC_IPV4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, and the metadata service of most clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
];

const GLOBAL_IPV6 = ["2000::/3"];
/** Parts of 2000::/3 that lead elsewhere. */
const NOT_PUBLIC_IPV6 = [
  "2001::/23", // protocol assignments; Teredo and others
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
];

const notPublicV4 = networks(NOT_PUBLIC_IPV4);
const globalV6 = networks(GLOBAL_IPV6);
const notPublicV6 = networks(NOT_PUBLIC_IPV6);

/** @param cidrs `10.0.0.0/8`, `fd00::/8`, or one address. @throws {Error} for any other text. */
export function networks(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", bits] = cidr.split("/");
    const version = isIP(address);
    const length = bits === undefined ? (version === 4 ? 32 : 128) : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
    if (version === 0 || length < 0 || length > (version === 4 ? 32 : 128))
      throw new Error(`"${cidr}" is not a network`);
    list.addSubnet(address, length, version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** @param open non-public networks to allow. */
export function isAllowedAddress(address: string, open: BlockList): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (open.check(address, version === 4 ? "ipv4" : "ipv6")) return true; // public-address.2
  if (version === 4) return !notPublicV4.check(address);
  const bare = address.split("%")[0] ?? ""; // zones exist only on local networks
  return bare === address && globalV6.check(address, "ipv6") && !notPublicV6.check(address, "ipv6"); // public-address.1
}
