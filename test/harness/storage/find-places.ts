// Where a text is: files of a data folder, and tables of a PostgreSQL.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";

/** @param text in lower case @returns files and tables */
export async function findPlaces(dataDir: string, databaseUri: string, text: string): Promise<readonly string[]> {
  const all = existsSync(dataDir) ? readdirSync(dataDir, { recursive: true, withFileTypes: true }) : [];
  const files = all
    .filter((entry) => entry.isFile())
    .filter((entry) => readFileSync(join(entry.parentPath, entry.name)).toString("latin1").toLowerCase().includes(text))
    .map(({ name }) => name);
  return databaseUri === "" ? files : [...files, ...(await findTables(databaseUri, text))];
}

async function findTables(databaseUri: string, text: string): Promise<readonly string[]> {
  const client = new Client(databaseUri);
  await client.connect();
  try {
    const tables = await client.query<{ readonly name: string }>(
      "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname LIKE 'holdpoint%' ORDER BY 1",
    );
    const found: string[] = [];
    for (const { name } of tables.rows) {
      const { rowCount } = await client.query(`SELECT 1 FROM ${name} AS t WHERE lower(t::text) LIKE $1 LIMIT 1`, [
        `%${text}%`,
      ]);
      if (rowCount !== 0) found.push(name);
    }
    return found;
  } finally {
    await client.end();
  }
}
