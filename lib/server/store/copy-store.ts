// Copies a console's store from one database into another: from SQLite to PostgreSQL, or back.
// Guarantees: piece by piece in the order of the keys, each in a transaction, so that a copy that was ended goes on where it was; what is
// the same is left alone, what differs is replaced; in the end every row of both was compared. Until then no console starts on the copy.
// Must never: touch what it copies from, or a console that is in the target already.

import "server-only";
import { isDeepStrictEqual } from "node:util";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { type Database } from "./database";
import { dialectOf } from "./dialect/dialect";
import { indexed } from "./jobs/job-ledger";
import { readItem } from "./jobs/ledger-rows";
import { type Tables } from "./tables";

const AT_ONCE = 500;
const UNFINISHED = "copy-store has not ended";

type Row = Record<string, unknown>;
type Column = { name: string; isWhole: boolean };
type Table = { name: string; columns: Column[]; key: Column[] };
export type Copied = { tables: number; rows: number };
type Copying = { from: Database; to: Database; say(progress: string): void };

/** Both have today's schema. */
export async function copyStore({ from, to, say }: Copying): Promise<Copied> {
  await requireVacant(to);
  const mark = to.insertInto("attempts").values({ name: UNFINISHED, full_at: Number.MAX_SAFE_INTEGER });
  await mark.onConflict((conflict) => conflict.doNothing()).execute();
  const tables = await tablesInOrder(from, to);
  let rows = 0;
  for (const table of tables) {
    const copied = await walk(table, { from, to }, (after, until, piece) => replace(to, table, { after, until, piece }));
    rows += copied;
    say(`${table.name}: ${copied} ${copied === 1 ? "row" : "rows"}`);
  }
  for (const table of tables)
    await walk(table, { from, to }, () => {
      throw new Error(`The rows of ${table.name} changed while they were copied: stop every console, then run this again.`);
    });
  const { rows: counts } = await sql<{ jobs: number; words: number }>`
    SELECT (SELECT count(*) FROM ledger_jobs) AS jobs, (SELECT count(*) FROM ledger_words) AS words`.execute(to);
  if (counts[0]?.jobs !== counts[0]?.words) throw new Error("The index of the jobs' words is not whole in the copy.");
  await dialectOf(to).numberOnFrom(to);
  await to.deleteFrom("attempts").where("name", "=", UNFINISHED).execute();
  return { tables: tables.length, rows };
}

/** A copy that was begun and has not ended: a console that starts on it would lose what is not copied yet. */
export async function requireFinished(database: Database): Promise<void> {
  if (await isUnfinished(database))
    throw new Error(
      "This store is being filled by `npm run copy-store` or `npm run restore`, which has not ended: run it again until it has.",
    );
}

/** Whether a copy may begin, or go on, here. */
export async function requireVacant(to: Database): Promise<void> {
  const there = await to.selectFrom("members").select("id").limit(1).executeTakeFirst();
  if (there && !(await isUnfinished(to)))
    throw new Error("The target holds a console already: name an empty database, or an empty folder.");
}

async function isUnfinished(database: Database): Promise<boolean> {
  return (await database.selectFrom("attempts").select("name").where("name", "=", UNFINISHED).executeTakeFirst()) !== undefined;
}

type Change = (after: Row | undefined, until: Row | undefined, piece: Row[]) => Promise<void>;

/** Piece by piece; `change` is called where a piece of the target differs. Returns how many rows there are. */
async function walk(table: Table, { from, to }: Pick<Copying, "from" | "to">, change: Change): Promise<number> {
  let rows = 0;
  for (let after: Row | undefined; ;) {
    const piece = await read(from, table, sql`${beyond(table, after)} ORDER BY ${order(table)} LIMIT ${sql.lit(AT_ONCE)}`);
    const last = piece.length < AT_ONCE ? undefined : piece.at(-1);
    const there = await read(to, table, sql`${between(table, after, last)} ORDER BY ${order(table)} LIMIT ${sql.lit(AT_ONCE + 1)}`);
    if (!isDeepStrictEqual(there, piece)) await change(after, last, piece);
    rows += piece.length;
    if (last === undefined) return rows;
    after = last;
  }
}

async function replace(to: Database, table: Table, { after, until, piece }: { after?: Row; until?: Row; piece: Row[] }): Promise<void> {
  await to.transaction().execute(async (trx) => {
    await sql`DELETE FROM ${sql.table(table.name)} WHERE ${between(table, after, until)}`.execute(trx);
    const names = sql.join(table.columns.map(({ name }) => sql.ref(name)));
    // SQLite takes 32,766 values at a time.
    for (let at = 0; at < piece.length; at += 100) {
      const values = piece.slice(at, at + 100).map((row) => sql`(${sql.join(table.columns.map((column) => valueOf(row, column)))})`);
      await sql`INSERT INTO ${sql.table(table.name)} (${names}) VALUES ${sql.join(values)}`.execute(trx);
    }
    if (table.name === "ledger_jobs") for (const row of piece) await putWords(trx, row);
  });
}

/** The index cannot be read out of SQLite: it is made anew from what it was made of. */
async function putWords(trx: Kysely<Tables>, row: Row): Promise<void> {
  const text = (name: string) => (typeof row[name] === "string" ? row[name] : undefined);
  const kinds = (text("kinds") ?? "").split(",").filter(Boolean);
  const body = indexed({ item: readItem(text("item") ?? "{}"), memberId: text("member_id"), kinds, inputs: text("inputs") });
  await dialectOf(trx).putWords(trx, BigInt(text("key") ?? 0), body);
}

/** Whole numbers as texts: some have more digits than a double holds. */
async function read(database: Database, { name, columns }: Table, rest: RawBuilder<unknown>): Promise<Row[]> {
  const selected = columns.map((column) =>
    column.isWhole ? sql`CAST(${sql.ref(column.name)} AS TEXT) AS ${sql.ref(column.name)}` : sql.ref(column.name),
  );
  const { rows } = await sql<Row>`SELECT ${sql.join(selected)} FROM ${sql.table(name)} WHERE ${rest}`.execute(database);
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column.name, storable(row[column.name])])));
}

/** The one character that PostgreSQL does not take. */
function storable(value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;
}

const valueOf = (row: Row, { name, isWhole }: Column) => (isWhole && typeof row[name] === "string" ? BigInt(row[name]) : row[name]);
// Of the table's own column, and not of the text that is selected under its name.
const keyOf = ({ name, key }: Table) => sql.join(key.map((column) => sql.ref(`${name}.${column.name}`)));
const order = keyOf;
const rowOf = ({ key }: Table, row: Row) => sql.join(key.map((column) => valueOf(row, column)));
const beyond = (table: Table, after: Row | undefined) => (after ? sql`(${keyOf(table)}) > (${rowOf(table, after)})` : sql`1 = 1`);
const between = (table: Table, after: Row | undefined, until: Row | undefined) =>
  until ? sql`${beyond(table, after)} AND (${keyOf(table)}) <= (${rowOf(table, until)})` : beyond(table, after);

/** Whatever a row names comes before it. One of the two is SQLite, which tells of both, since their schemas are the same. */
async function tablesInOrder(...databases: Database[]): Promise<Table[]> {
  const sqlite = databases.find((database) => dialectOf(database).isFile);
  if (!sqlite) throw new Error("one of the two databases must be SQLite");
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table'
      AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'kysely_*' AND name NOT GLOB 'ledger_words*' AND name <> 'attempts' ORDER BY name`.execute(
    sqlite,
  );
  const ordered = new Map<string, Table>();
  const add = async (name: string): Promise<void> => {
    if (ordered.has(name)) return;
    const { rows: named } = await sql<{ table: string }>`SELECT DISTINCT "table" FROM pragma_foreign_key_list(${name})`.execute(sqlite);
    for (const other of named) if (other.table !== name) await add(other.table);
    const { rows: columns } = await sql<{ name: string; type: string; pk: number }>`
      SELECT name, type, pk FROM pragma_table_info(${name}) ORDER BY name`.execute(sqlite);
    const of = ({ name: column, type }: { name: string; type: string }) => ({ name: column, isWhole: /^(integer|bigint)$/i.test(type) });
    const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
    ordered.set(name, { name, columns: columns.map(of), key: (key.length > 0 ? key : columns).map(of) });
  };
  for (const { name } of rows) await add(name);
  return [...ordered.values()];
}
