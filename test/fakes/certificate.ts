// Certificates generated at run time: an authority and its leaf, so that the repository contains no key and none
// expires. X.509 version 3, ECDSA on P-256, with the minimum that TLS clients require.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

export interface Certified {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** PEM of the authority, for clients. */
  readonly cert: string;
  /** A certificate for these names and addresses; `days` says from when until when, counted from now. */
  certify(hosts: readonly string[], days?: { readonly from: number; readonly to: number }): Certified;
}

const DAY_MS = 86_400_000;

export function createAuthority(name = "Test authority"): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = encodeName(name);
  const cert = (publicKey: KeyObject, of: Buffer, extensions: Buffer, days: { from: number; to: number }): string => {
    const validity = sequence(...[days.from, days.to].map((day) => encodeTime(Date.now() + day * DAY_MS)));
    const body = sequence(
      der(0xa0, der(0x02, Buffer.from([2]))), // version 3
      der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial
      ECDSA_SHA256,
      subject,
      validity,
      of,
      publicKey.export({ type: "spki", format: "der" }),
      der(0xa3, extensions),
    );
    const signature = sign("sha256", body, keys.privateKey);
    return pem(sequence(body, ECDSA_SHA256, bits(signature)));
  };
  return {
    cert: cert(
      keys.publicKey,
      subject,
      sequence(extension("551d13", sequence(der(0x01, Buffer.from([0xff]))))), // basicConstraints: CA
      { from: -1, to: 1 },
    ),
    certify(hosts, days = { from: -1, to: 1 }) {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const alternatives = hosts.map((host) =>
        isIP(host) === 4 ? der(0x87, encodeIp(host)) : der(0x82, Buffer.from(host)),
      );
      return {
        cert: cert(
          own.publicKey,
          encodeName(hosts[0] ?? ""),
          sequence(extension("551d11", sequence(...alternatives))),
          days,
        ),
        key: own.privateKey.export({ type: "pkcs8", format: "pem" }),
      };
    },
  };
}

// ---- DER ----
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...items: readonly Buffer[]): Buffer {
  return der(0x30, ...items);
}

function identifier(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

const ECDSA_SHA256 = sequence(identifier("2a8648ce3d040302"));

function encodeName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(identifier("550403"), der(0x0c, Buffer.from(commonName)))));
}

function encodeTime(ms: number): Buffer {
  return der(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-T:]/g, "")}Z`));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), der(0x04, value));
}

function bits(content: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), content);
}

function encodeIp(address: string): Buffer {
  return Buffer.from(address.split(".").map(Number));
}

function pem(content: Buffer): string {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
