// Key proof: a text in a file that names the key of the file, and proves it.
import { refuseKeys } from "@holdpoint/base/config/encryption-keys.ts";
import { readKeyId, SealedValueError, type Keyring } from "@holdpoint/base/keyring.ts";

export interface KeyProof {
  /** Path of the file. */
  readonly file: string;
  /** An empty text, sealed at the place. Plain files have another text. */
  readonly proof: string;
  readonly place: string;
}

/** @returns the ids of the keys that the files need @throws {ConfigError} without one of them */
export function checkProofs(proofs: readonly KeyProof[], ring: Keyring | null): ReadonlySet<string> {
  const used = new Set<string>();
  for (const { file, proof, place } of proofs) {
    const id = readKeyId(proof);
    if (id === null) continue;
    if (ring?.ids.includes(id) !== true)
      throw refuseKeys(`${file} needs the key "${id}", which is not given: add it behind the others`);
    try {
      ring.open(proof, place);
    } catch (error) {
      if (!(error instanceof SealedValueError)) throw error;
      throw refuseKeys(`the key "${id}" is another one than that which sealed ${file}`);
    }
    used.add(id);
  }
  return used;
}
