// Copies rows between databases with the same tables, and compares all of them. An unfinished target has a mark, and no store opens it.

import { isDeepStrictEqual } from "node:util";
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import { storable } from "../text";

const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1024 ** 2;
/** SQLite takes at most 32,766 values at a time. */
const WRITTEN_AT_ONCE = 100;
const MARK = "unfinished_copy";

export type Row = Record<string, unknown>;
type Column = { name: string; kind: "whole" | "text" | "other" };
type Table = { name: string; columns: Column[]; key: Column[]; hasKey: boolean; where: RawBuilder<unknown> };
export type CopyResult = { tables: number; rows: number };

/** A count that triggers keep of rows in other tables: it is compared, not copied. */
export type Counter = { table: string; by: readonly string[]; count: string };

export type TableCopy<DB> = {
  from: Kysely<DB>;
  to: Kysely<DB>;
  logProgress(progress: string): void;
  isExcluded(table: string): boolean;
  counters?: readonly Counter[];
  afterInsert?(trx: Kysely<DB>, table: string, row: Row): Promise<void>;
  beforeEnd?(): Promise<void>;
};

export async function copyTables<DB>(copying: TableCopy<DB>): Promise<CopyResult> {
  const { to, logProgress, counters = [] } = copying;
  await sql`CREATE TABLE IF NOT EXISTS ${sql.table(MARK)} (begun bigint)`.execute(to);
  const all = await tablesInOrder(copying);
  const tables = all.filter(({ name }) => !counters.some(({ table }) => table === name));
  for (const table of tables.toReversed()) await removeGone(table, copying);
  let rows = 0;
  for (const table of tables) {
    const copied = await walk(table, copying, (piece, targetRows) => put(copying, table, piece, targetRows));
    rows += copied;
    logProgress(`${table.name}: ${copied} ${copied === 1 ? "row" : "rows"}`);
  }
  for (const table of [...tables, ...counters.map((counter) => counted(all, counter))])
    await walk(table, copying, () => {
      throw new Error(`Rows of ${table.name} changed during the copy. Stop every writer, then run this again.`);
    });
  await copying.beforeEnd?.();
  for (const table of tables) await numberOn(table, copying);
  await sql`DROP TABLE ${sql.table(MARK)}`.execute(to);
  return { tables: tables.length, rows };
}

/** Selects a row if a copy was begun and has not ended: a process that opened this store would lose what is not copied yet. */
export const findUnfinishedCopy = {
  sqlite: `SELECT 1 AS found FROM sqlite_master WHERE name = '${MARK}'`,
  postgres: `SELECT 1 AS found FROM pg_tables WHERE schemaname = current_schema() AND tablename = '${MARK}'`,
};

export async function isUnfinishedCopy<DB>(database: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql.raw(findUnfinishedCopy[isPostgres(database) ? "postgres" : "sqlite"]).execute(database);
  return rows.length > 0;
}

export const UNFINISHED_COPY =
  "An unfinished `npm run copy-store` or `npm run restore` wrote to this store. Run that command again until it completes.";

export function leftBehindMessage(file: string): string {
  return `${file} has the rows, and the database of DATABASE_URL has none of them. Stop whatever uses them and move them there: npm run copy-store -- --to postgres://… (the address in DATABASE_URL). Or start without DATABASE_URL.`;
}

function isPostgres<DB>(database: Kysely<DB>): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

type Change = (piece: Row[], targetRows: Row[]) => Promise<void>;
type DatabasePair<DB> = Pick<TableCopy<DB>, "from" | "to">;

/** Calls `change` for each piece that differs in the target. */
async function walk<DB>(table: Table, { from, to }: DatabasePair<DB>, change: Change): Promise<number> {
  let rows = 0;
  for (let after: Row | undefined; ;) {
    const length = await lengthOfPiece(from, table, after);
    const piece = length === 0 ? [] : await read(from, table, sql`${beyond(table, after)} ${first(table, length)}`);
    const last = piece.at(-1);
    const targetRows = await read(to, table, sql`${between(table, after, last)} ${first(table, length + 1)}`);
    if (!isDeepStrictEqual(targetRows, piece)) await change(piece, targetRows);
    rows += piece.length;
    if (last === undefined) return rows;
    after = last;
  }
}

async function lengthOfPiece<DB>(database: Kysely<DB>, table: Table, after: Row | undefined): Promise<number> {
  const texts = table.columns.filter(({ kind }) => kind === "text").map(({ name }) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`);
  const size = texts.length === 0 ? sql`0` : sql.join(texts, sql` + `);
  const { rows } = await sql<{ size: number }>`
    SELECT ${size} AS size FROM ${sql.table(table.name)} WHERE ${table.where} AND ${beyond(table, after)} ${first(table, MAX_ROWS)}`.execute(
    database,
  );
  let bytes = 0;
  const tooMuch = rows.findIndex(({ size: more }) => (bytes += Number(more)) > MAX_BYTES);
  return tooMuch === -1 ? rows.length : Math.max(1, tooMuch);
}

async function put<DB>({ to, afterInsert: putBeside }: TableCopy<DB>, table: Table, piece: Row[], targetRows: Row[]): Promise<void> {
  const rowsByName = new Map(targetRows.map((row) => [nameOf(table, row), row]));
  const changed = piece.filter((row) => !isDeepStrictEqual(rowsByName.get(nameOf(table, row)), row));
  const others = table.columns.filter(({ name }) => !table.key.some((column) => column.name === name));
  const update = others.map(({ name }) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  const then = others.length === 0 ? sql`NOTHING` : sql`UPDATE SET ${sql.join(update)}`;
  const onConflict = table.hasKey ? sql`ON CONFLICT (${namesOf(table.key)}) DO ${then}` : sql``;
  await to.transaction().execute(async (trx) => {
    for (let at = 0; at < changed.length; at += WRITTEN_AT_ONCE) {
      const rows = changed
        .slice(at, at + WRITTEN_AT_ONCE)
        .map((row) => sql`(${sql.join(table.columns.map((column) => valueOf(row, column)))})`);
      await sql`
        INSERT INTO ${sql.table(table.name)} (${namesOf(table.columns)}) VALUES ${sql.join(rows)} ${onConflict}`.execute(trx);
    }
    if (putBeside) for (const row of changed) await putBeside(trx, table.name, row);
  });
}

async function removeGone<DB>(table: Table, { from, to }: DatabasePair<DB>): Promise<void> {
  const keys = { ...table, columns: table.key };
  for (let after: Row | undefined; ;) {
    const piece = await read(to, keys, sql`${beyond(table, after)} ${first(table, MAX_ROWS)}`);
    const last = piece.at(-1);
    if (last === undefined) return;
    const sourceRows = await read(from, keys, anyOf(table, piece));
    const sourceNames = new Set(sourceRows.map((row) => nameOf(table, row)));
    const removedRows = piece.filter((row) => !sourceNames.has(nameOf(table, row)));
    if (removedRows.length > 0) await sql`DELETE FROM ${sql.table(table.name)} WHERE ${anyOf(table, removedRows)}`.execute(to);
    after = last;
  }
}

/** Whole numbers are read as texts: some have more digits than a double holds. */
async function read<DB>(database: Kysely<DB>, { name, columns, where }: Table, rest: RawBuilder<unknown>): Promise<Row[]> {
  const selected = columns.map(({ name: column, kind }) =>
    kind === "whole" ? sql`CAST(${sql.ref(column)} AS TEXT) AS ${sql.ref(column)}` : sql.ref(column),
  );
  const { rows } = await sql<Row>`SELECT ${sql.join(selected)} FROM ${sql.table(name)} WHERE ${where} AND ${rest}`.execute(database);
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column.name, storable(row[column.name])])));
}

const valueOf = (row: Row, { name, kind }: Column) => (kind === "whole" && typeof row[name] === "string" ? BigInt(row[name]) : row[name]);
const nameOf = ({ key }: Table, row: Row) => key.map(({ name }) => String(row[name])).join("\0");
const namesOf = (columns: readonly Column[]) => sql.join(columns.map(({ name }) => sql.ref(name)));
// The table's own column, not the text that is selected under the same name.
const keyOf = ({ name, key }: Table) => sql.join(key.map((column) => sql.ref(`${name}.${column.name}`)));
const first = (table: Table, count: number) => sql`ORDER BY ${keyOf(table)} LIMIT ${sql.lit(count)}`;
const rowOf = ({ key }: Table, row: Row) => sql.join(key.map((column) => valueOf(row, column)));
const beyond = (table: Table, after: Row | undefined) => (after ? sql`(${keyOf(table)}) > (${rowOf(table, after)})` : sql`1 = 1`);
const between = (table: Table, after: Row | undefined, until: Row | undefined) =>
  until ? sql`${beyond(table, after)} AND (${keyOf(table)}) <= (${rowOf(table, until)})` : beyond(table, after);
const anyOf = (table: Table, rows: readonly Row[]) =>
  sql`(${sql.join(
    rows.map((row) => sql`(${keyOf(table)}) = (${rowOf(table, row)})`),
    sql` OR `,
  )})`;

/** Tables come after those they refer to. Tables without references either way come last: triggers of others may write to them. */
async function tablesInOrder<DB>({ from, to, isExcluded: isLeftOut }: TableCopy<DB>): Promise<Table[]> {
  const sqlite = [from, to].find((database) => !isPostgres(database));
  if (!sqlite) throw new Error("one of the two databases must be SQLite, which tells of the tables of both");
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> ${MARK} ORDER BY name`.execute(sqlite);
  const names = rows.map(({ name }) => name).filter((name) => !isLeftOut(name));
  const references = new Map<string, string[]>();
  for (const name of names) {
    const { rows: named } = await sql<{ table: string }>`SELECT DISTINCT "table" FROM pragma_foreign_key_list(${name})`.execute(sqlite);
    references.set(
      name,
      named.map(({ table }) => table).filter((other) => other !== name),
    );
  }
  const ordered = new Set<string>();
  const add = (name: string): void => {
    for (const other of references.get(name) ?? []) if (!ordered.has(other)) add(other);
    ordered.add(name);
  };
  for (const [name, others] of references) if (others.length > 0) add(name);
  for (const name of names) ordered.add(name);
  const tables: Table[] = [];
  for (const name of ordered) tables.push(await describe(sqlite, name));
  return tables;
}

async function describe<DB>(sqlite: Kysely<DB>, name: string): Promise<Table> {
  const { rows } = await sql<{ name: string; type: string; pk: number }>`
    SELECT name, type, pk FROM pragma_table_info(${name}) ORDER BY name`.execute(sqlite);
  const of = ({ name: column, type }: { name: string; type: string }): Column => ({
    name: column,
    kind: /^(integer|bigint)$/i.test(type) ? "whole" : /^text$/i.test(type) ? "text" : "other",
  });
  const key = rows.filter(({ pk }) => pk > 0).sort((row, other) => row.pk - other.pk);
  return { name, columns: rows.map(of), key: (key.length > 0 ? key : rows).map(of), hasKey: key.length > 0, where: sql`1 = 1` };
}

function counted(tables: readonly Table[], { table, by, count }: Counter): Table {
  const sourceTable = tables.find(({ name }) => name === table);
  const pick = (names: readonly string[]) => (sourceTable?.columns ?? []).filter(({ name }) => names.includes(name));
  return { name: table, columns: pick([...by, count]), key: pick(by), hasKey: true, where: sql`${sql.ref(count)} <> 0` };
}

/** A new row must get a number that no row has had before, not even a deleted one. */
async function numberOn<DB>({ name, key: [key] }: Table, { from, to }: DatabasePair<DB>): Promise<void> {
  if (key?.kind !== "whole") return;
  const currentNumber = await lastNumber(to, name, key.name);
  if (currentNumber === undefined) return;
  const { rows } = await sql<{ last: number | null }>`SELECT max(${sql.ref(key.name)}) AS last FROM ${sql.table(name)}`.execute(to);
  const number = Math.max((await lastNumber(from, name, key.name)) ?? 0, Number(rows[0]?.last ?? 0));
  if (number === currentNumber) return;
  if (isPostgres(to)) return void (await sql`SELECT setval(pg_get_serial_sequence(${name}, ${key.name}), ${number})`.execute(to));
  await sql`DELETE FROM sqlite_sequence WHERE name = ${name}`.execute(to);
  await sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${name}, ${number})`.execute(to);
}

/** The last number given to a row of the table; 0: none. Undefined if the database does not keep it. */
async function lastNumber<DB>(database: Kysely<DB>, table: string, column: string): Promise<number | undefined> {
  const sequenceQuery = isPostgres(database)
    ? sql<{ number: number }>`
        SELECT coalesce(pg_sequence_last_value(sequence::regclass), 0) AS number
        FROM (SELECT pg_get_serial_sequence(${table}, ${column}) AS sequence) AS found WHERE sequence IS NOT NULL`
    : sql<{ number: number }>`
        SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ${table}), 0) AS number
        FROM sqlite_master WHERE name = ${table} AND sql LIKE '%AUTOINCREMENT%'`;
  const { rows } = await sequenceQuery.execute(database);
  return rows[0] && Number(rows[0].number);
}
