// Contract of the storage port for people, sessions and keys, one part of storage.contract.ts.
// Rules:
//   contract/identity.1. A person, a session and a key read back as stored, by each of their keys.
//   contract/identity.2. Of several rotations of one session from the same token, one succeeds.
//   contract/identity.4. A name belongs to the subject that took it first.
//   contract/identity.5. What the console keeps of a person is there until the person is deleted.
//   contract/identity.3. A deleted person has no sessions; old sessions are deleted, others stay.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Person, Session, StoredKey } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const person = (name: string, changes: Partial<Person> = {}): Person => ({
  name,
  issuer: "https://id.example",
  subject: `subject of ${name}`,
  displayName: name,
  email: `${name}@example.com`,
  groups: [],
  createdAt: 1,
  seenAt: 1,
  ...changes,
});

export function identityCases(open: (t: TestContext) => Promise<Storage>, odd: JsonObject, newId: NewId): void {
  const session = (changes: Partial<Session> = {}): Session => ({
    sessionId: newId(),
    person: "ann",
    tokenHash: newId(),
    previousHash: null,
    previousUntil: null,
    rotatedAt: 1,
    providerSession: null,
    sealedIdToken: "sealed",
    claims: {},
    createdAt: 1,
    usedAt: 1,
    expiresAt: 100,
    ...changes,
  });

  test("a person reads back by name and by subject, and is replaced by name (contract/identity.1)", async (t) => {
    const storage = await open(t);
    const ann = person("ann", { groups: ["a", "b"], email: null });
    await storage.transaction((tx) => tx.putPerson(ann));
    const read = () =>
      storage.transaction(async (tx) => [await tx.person("ann"), await tx.readPerson(ann.issuer, ann.subject)]);
    assert.deepEqual(await read(), [ann, ann]);
    const changed = { ...ann, displayName: "Ann", email: "ann@example.org", groups: ["c"], seenAt: 5 };
    await storage.transaction((tx) => tx.putPerson(changed));
    assert.deepEqual(await read(), [changed, changed]);
    await storage.transaction(async (tx) => {
      await tx.markSeen("ann", 9);
      await tx.markSeen("ann", 7); // an earlier time, from a slower server
      await tx.markSeen("nobody", 9);
    });
    assert.equal((await read())[0]?.seenAt, 9);
    assert.equal(await storage.transaction((tx) => tx.readPerson(ann.issuer, "other")), null);
  });

  test("what the console keeps of a person stays when the person signs in again (contract/identity.5)", async (t) => {
    const storage = await open(t);
    assert.equal(await storage.transaction((tx) => tx.personConsole("ann")), null);
    assert.equal(await storage.transaction((tx) => tx.changePersonConsole("ann", () => "{}")), null);
    await storage.transaction((tx) => tx.putPerson(person("ann")));
    assert.deepEqual(await storage.transaction((tx) => tx.personConsole("ann")), { text: null });
    const text = JSON.stringify(odd);
    assert.equal(await storage.transaction((tx) => tx.changePersonConsole("ann", () => text)), text);
    await storage.transaction((tx) => tx.putPerson(person("ann", { seenAt: 9 })));
    assert.deepEqual(await storage.read((tx) => tx.personConsole("ann")), { text });
  });

  test("of 20 changes at once of what the console keeps, each sees the one before (contract/identity.5)", async (t) => {
    const storage = await open(t);
    await storage.transaction((tx) => tx.putPerson(person("ann")));
    const add = (text: string | null): string => `${text ?? ""}+`;
    await Promise.all(
      Array.from({ length: 20 }, () => storage.transaction((tx) => tx.changePersonConsole("ann", add))),
    );
    assert.deepEqual(await storage.read((tx) => tx.personConsole("ann")), { text: "+".repeat(20) });
    const fails = storage.transaction((tx) =>
      tx.changePersonConsole("ann", () => {
        throw new Error("no");
      }),
    );
    await assert.rejects(fails, /no/);
    assert.deepEqual(await storage.read((tx) => tx.personConsole("ann")), { text: "+".repeat(20) });
  });

  test("of 20 subjects that take the same name at once, one gets it (contract/identity.4)", async (t) => {
    const storage = await open(t);
    const tries = Array.from({ length: 20 }, (_, at) =>
      storage.transaction((tx) => tx.putPerson(person("ann", { subject: `subject ${at}` }))),
    );
    const won = (await Promise.all(tries)).flatMap((yes, at) => (yes ? [`subject ${at}`] : []));
    assert.equal(won.length, 1);
    assert.equal((await storage.transaction((tx) => tx.person("ann")))?.subject, won[0]);
  });

  test("people are found by their address in any case, and names of keys by the name (contract/identity.1)", async (t) => {
    const storage = await open(t);
    await storage.transaction(async (tx) => {
      await tx.putPerson(person("ann", { email: "Ann@Example.org" }));
      await tx.putPerson(person("bob", { email: null }));
    });
    const found = await storage.read((tx) => tx.peopleByEmail("ann@example.ORG"));
    assert.deepEqual(
      found.map(({ name }) => name),
      ["ann"],
    );
    assert.deepEqual(await storage.read((tx) => tx.peopleByEmail("other@example.org")), []);
    assert.deepEqual(await storage.read((tx) => tx.keysNamed("ann")), []);
  });

  test("people are listed by name, of a group, in pages (contract/identity.1)", async (t) => {
    const storage = await open(t);
    const groups = { ann: ["red"], bob: ["red", "blue"], cleo: ["redder"], dan: ['"red'] };
    await storage.transaction(async (tx) => {
      for (const [name, own] of Object.entries(groups).toReversed()) await tx.putPerson(person(name, { groups: own }));
    });
    const names = (group: string | null, after: string | null, limit: number) =>
      storage.transaction(async (tx) => (await tx.people({ group, after, limit })).map(({ name }) => name));
    assert.deepEqual(await names(null, null, 9), ["ann", "bob", "cleo", "dan"]);
    assert.deepEqual(await names(null, "ann", 2), ["bob", "cleo"]);
    assert.deepEqual(await names("red", null, 9), ["ann", "bob"]);
    assert.deepEqual(await names("red", "ann", 9), ["bob"]);
    assert.deepEqual(await names("green", null, 9), []);
  });

  test("a session reads back by its newest and by its previous token (contract/identity.1)", async (t) => {
    const storage = await open(t);
    const one = session({ claims: odd, providerSession: "sid" });
    await storage.transaction((tx) => tx.insertSession(one));
    const by = (hash: string) => storage.transaction((tx) => tx.sessionByToken(hash));
    assert.deepEqual(await by(one.tokenHash), one);
    assert.equal(await by("other"), null);
    const { sessionId } = one;
    const sealedIdToken = "sealed again";
    const rotated = { tokenHash: "new", previousHash: one.tokenHash, previousUntil: null, rotatedAt: 7, sealedIdToken };
    const rotation = { sessionId, from: one.tokenHash, to: "new", sealedIdToken, at: 7 };
    assert.equal(await storage.transaction((tx) => tx.rotateSession(rotation)), true);
    assert.deepEqual(await by("new"), { ...one, ...rotated });
    assert.deepEqual(await by(one.tokenHash), { ...one, ...rotated });
    await storage.transaction(async (tx) => {
      await tx.limitPrevious(sessionId, 50);
      await tx.limitPrevious(sessionId, 60);
      await tx.markSessionUsed(sessionId, 9);
    });
    assert.deepEqual(await by("new"), { ...one, ...rotated, previousUntil: 50, usedAt: 9 });
    assert.equal(await storage.transaction((tx) => tx.deleteSession(sessionId)), true);
    assert.equal(await storage.transaction((tx) => tx.deleteSession(sessionId)), false);
    assert.equal(await by("new"), null);
  });

  test("of 20 rotations of a session from the same token, one succeeds (contract/identity.2)", async (t) => {
    const storage = await open(t);
    const { sessionId, tokenHash: from, ...rest } = session();
    await storage.transaction((tx) => tx.insertSession({ sessionId, tokenHash: from, ...rest }));
    const tries = Array.from({ length: 20 }, (_, at) =>
      storage.transaction((tx) =>
        tx.rotateSession({ sessionId, from, to: `new ${at}`, sealedIdToken: `sealed ${at}`, at: 2 }),
      ),
    );
    const won = (await Promise.all(tries)).flatMap((yes, at) => (yes ? [at] : []));
    assert.equal(won.length, 1);
    const stored = await storage.transaction((tx) => tx.sessionByToken(`new ${won[0]}`));
    assert.equal(stored?.previousHash, from);
  });

  test("sessions go with their person, with their session at the provider, and with age (contract/identity.3)", async (t) => {
    const storage = await open(t);
    const all = {
      ann: session({ usedAt: 50 }),
      annThere: session({ providerSession: "sid", usedAt: 50 }),
      annElsewhere: session({ providerSession: "another sid", usedAt: 50 }),
      bob: session({ person: "bob", usedAt: 50 }),
      idle: session({ person: "cleo", usedAt: 10 }),
      expired: session({ person: "cleo", usedAt: 50, expiresAt: 40 }),
      used: session({ person: "cleo", usedAt: 50 }),
    };
    await storage.transaction(async (tx) => {
      await tx.putPerson(person("bob"));
      for (const one of Object.values(all)) await tx.insertSession(one);
    });
    const left = async () => {
      const found: string[] = [];
      for (const [name, { tokenHash }] of Object.entries(all))
        if ((await storage.transaction((tx) => tx.sessionByToken(tokenHash))) !== null) found.push(name);
      return found;
    };
    assert.equal(await storage.transaction((tx) => tx.deletePersonSessions("ann", "sid")), 1);
    assert.deepEqual(await left(), ["ann", "annElsewhere", "bob", "idle", "expired", "used"]);
    assert.deepEqual(await storage.transaction((tx) => tx.deleteSessionsAt("another sid")), ["ann"]);
    assert.deepEqual(await storage.transaction((tx) => tx.deleteSessionsAt("another sid")), []);
    assert.deepEqual(await left(), ["ann", "bob", "idle", "expired", "used"]);
    assert.equal(await storage.transaction((tx) => tx.deletePersonSessions("ann", null)), 1);
    assert.equal(await storage.transaction((tx) => tx.deletePerson("bob")), true);
    assert.equal(await storage.transaction((tx) => tx.deletePerson("bob")), false);
    assert.deepEqual(await left(), ["idle", "expired", "used"]);
    assert.equal(await storage.transaction((tx) => tx.deleteOldSessions(45, 20)), 2);
    assert.deepEqual(await left(), ["used"]);
  });

  test("a key reads back by its hash, and is listed, counted and deleted (contract/identity.1)", async (t) => {
    const storage = await open(t);
    const limits = { assistants: ["a"], metadata: odd };
    const key = (changes: Partial<StoredKey>): StoredKey => ({
      keyId: newId(),
      name: "robot",
      hash: newId(),
      role: "operator",
      limits,
      createdBy: "ann",
      createdAt: 1,
      expiresAt: null,
      usedAt: null,
      ...changes,
    });
    const one = key({});
    const two = key({ expiresAt: 9, role: "viewer" });
    await storage.transaction(async (tx) => {
      await tx.insertKey(one);
      await tx.insertKey(two);
      await tx.markKeyUsed(two.keyId, 5);
      await tx.markKeyUsed(two.keyId, 3);
    });
    assert.deepEqual(await storage.transaction((tx) => tx.keyByHash(one.hash)), one);
    assert.equal(await storage.transaction((tx) => tx.keyByHash("other")), null);
    assert.deepEqual(await storage.transaction((tx) => tx.keys()), [one, { ...two, usedAt: 5 }]);
    assert.deepEqual(
      await storage.read((tx) => tx.keysNamed(one.name)),
      [one].concat(one.name === two.name ? [{ ...two, usedAt: 5 }] : []),
    );
    assert.deepEqual(await storage.transaction((tx) => tx.deleteKey(one.keyId)), one);
    assert.equal(await storage.transaction((tx) => tx.deleteKey(one.keyId)), null);
    assert.equal(await storage.transaction((tx) => tx.countKeys()), 1);
  });
}
