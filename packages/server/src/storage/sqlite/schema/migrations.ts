// Migrations: the schema of the embedded database, step by step. Steps are append-only; migrate.ts runs the missing ones.
import { CATALOGUE_TABLES } from "./catalogue-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { MESSAGE_TABLES } from "./message-tables.ts";
import { PEOPLE_TABLES } from "./people-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

export const MIGRATIONS: readonly string[] = [
  THREAD_TABLES + INBOX_TABLES + CATALOGUE_TABLES + PEOPLE_TABLES + MESSAGE_TABLES,
];
