// Copies rows between databases with the same tables, and compares them. A marker table blocks opening the target until the copy completes.

import { isDeepStrictEqual } from "node:util";
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import { formatCount } from "@/lib/shared/text";
import { toStorableText } from "../text";

const MAX_BATCH_ROWS = 500;
const MAX_BATCH_BYTES = 8 * 1024 ** 2;
/** SQLite accepts at most 32,766 values per statement. */
const MAX_ROWS_PER_INSERT = 100;
const MARKER_TABLE = "unfinished_copy";

export type Row = Record<string, unknown>;
type Column = { name: string; kind: "integer" | "text" | "other" };
type Table = { name: string; columns: Column[]; key: Column[]; hasKey: boolean; where: RawBuilder<unknown> };
export type CopyResult = { tables: number; rows: number };

/** A count that triggers maintain. It is compared, not copied. */
export type Counter = { table: string; keyColumns: readonly string[]; count: string };

export type TableCopy<DB> = {
  from: Kysely<DB>;
  to: Kysely<DB>;
  logProgress(progress: string): void;
  isExcluded(table: string): boolean;
  counters?: readonly Counter[];
  afterInsert?(trx: Kysely<DB>, table: string, row: Row): Promise<void>;
  beforeEnd?(): Promise<void>;
};

export async function copyTables<DB>(copy: TableCopy<DB>): Promise<CopyResult> {
  const { to, logProgress, counters = [] } = copy;
  await sql`CREATE TABLE IF NOT EXISTS ${sql.table(MARKER_TABLE)} (begun bigint)`.execute(to);
  const allTables = await listTables(copy);
  const tables = allTables.filter(({ name }) => !counters.some(({ table }) => table === name));
  for (const table of tables.toReversed()) await deleteExtraRows(table, copy);
  let rows = 0;
  for (const table of tables) {
    const rowCount = await compareTables(table, copy, (batch, targetRows) => writeRows(copy, table, batch, targetRows));
    rows += rowCount;
    logProgress(`${table.name}: ${formatCount(rowCount, "row")}`);
  }
  for (const table of [...tables, ...counters.map((counter) => toCounterTable(allTables, counter))])
    await compareTables(table, copy, () => {
      throw new Error(`Rows of ${table.name} changed during the copy. Stop all processes that write to them and run the command again.`);
    });
  await copy.beforeEnd?.();
  for (const table of tables) await updateSequence(table, copy);
  await sql`DROP TABLE ${sql.table(MARKER_TABLE)}`.execute(to);
  return { tables: tables.length, rows };
}

/** Selects a row if a copy is unfinished. Opening the store would lose the rows that aren't copied yet. */
export const findUnfinishedCopy = {
  sqlite: `SELECT 1 AS found FROM sqlite_master WHERE name = '${MARKER_TABLE}'`,
  postgres: `SELECT 1 AS found FROM pg_tables WHERE schemaname = current_schema() AND tablename = '${MARKER_TABLE}'`,
};

export async function isUnfinishedCopy<DB>(database: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql.raw(findUnfinishedCopy[isPostgres(database) ? "postgres" : "sqlite"]).execute(database);
  return rows.length > 0;
}

export const UNFINISHED_COPY =
  "An unfinished `npm run copy-store` or `npm run restore` wrote to this store. Run that command again until it completes.";

export function createLeftBehindMessage(file: string): string {
  return `${file} has the rows, but the database of DATABASE_URL is empty. Stop every process that uses them and copy the rows: npm run copy-store -- --to postgres://… (the URL in DATABASE_URL). Or start without DATABASE_URL.`;
}

function isPostgres<DB>(database: Kysely<DB>): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

type BatchHandler = (batch: Row[], targetRows: Row[]) => Promise<void>;
type DatabasePair<DB> = Pick<TableCopy<DB>, "from" | "to">;

/** Calls `handleBatch` for each batch that differs in the target. */
async function compareTables<DB>(table: Table, { from, to }: DatabasePair<DB>, handleBatch: BatchHandler): Promise<number> {
  let rows = 0;
  for (let afterRow: Row | undefined; ;) {
    const length = await getBatchLength(from, table, afterRow);
    const batch = length === 0 ? [] : await selectRows(from, table, sql`${toAfterSql(table, afterRow)} ${toLimitSql(table, length)}`);
    const lastRow = batch.at(-1);
    const targetRows = await selectRows(to, table, sql`${toBetweenSql(table, afterRow, lastRow)} ${toLimitSql(table, length + 1)}`);
    if (!isDeepStrictEqual(targetRows, batch)) await handleBatch(batch, targetRows);
    rows += batch.length;
    if (lastRow === undefined) return rows;
    afterRow = lastRow;
  }
}

async function getBatchLength<DB>(database: Kysely<DB>, table: Table, afterRow: Row | undefined): Promise<number> {
  const textSizes = table.columns.filter(({ kind }) => kind === "text").map(({ name }) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`);
  const size = textSizes.length === 0 ? sql`0` : sql.join(textSizes, sql` + `);
  const { rows } = await sql<{ size: number }>`
    SELECT ${size} AS size FROM ${sql.table(table.name)} WHERE ${table.where} AND ${toAfterSql(table, afterRow)} ${toLimitSql(table, MAX_BATCH_ROWS)}`.execute(
    database,
  );
  let bytes = 0;
  const firstExcessIndex = rows.findIndex(({ size: rowBytes }) => (bytes += Number(rowBytes)) > MAX_BATCH_BYTES);
  return firstExcessIndex === -1 ? rows.length : Math.max(1, firstExcessIndex);
}

async function writeRows<DB>({ to, afterInsert }: TableCopy<DB>, table: Table, batch: Row[], targetRows: Row[]): Promise<void> {
  const rowsByKey = new Map(targetRows.map((row) => [getRowKey(table, row), row]));
  const changedRows = batch.filter((row) => !isDeepStrictEqual(rowsByKey.get(getRowKey(table, row)), row));
  const otherColumns = table.columns.filter(({ name }) => !table.key.some((column) => column.name === name));
  const assignments = otherColumns.map(({ name }) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  const conflictAction = otherColumns.length === 0 ? sql`NOTHING` : sql`UPDATE SET ${sql.join(assignments)}`;
  const onConflict = table.hasKey ? sql`ON CONFLICT (${toColumnList(table.key)}) DO ${conflictAction}` : sql``;
  await to.transaction().execute(async (trx) => {
    for (let index = 0; index < changedRows.length; index += MAX_ROWS_PER_INSERT) {
      const rows = changedRows
        .slice(index, index + MAX_ROWS_PER_INSERT)
        .map((row) => sql`(${sql.join(table.columns.map((column) => getValue(row, column)))})`);
      await sql`
        INSERT INTO ${sql.table(table.name)} (${toColumnList(table.columns)}) VALUES ${sql.join(rows)} ${onConflict}`.execute(trx);
    }
    if (afterInsert) for (const row of changedRows) await afterInsert(trx, table.name, row);
  });
}

async function deleteExtraRows<DB>(table: Table, { from, to }: DatabasePair<DB>): Promise<void> {
  const keyTable = { ...table, columns: table.key };
  for (let afterRow: Row | undefined; ;) {
    const batch = await selectRows(to, keyTable, sql`${toAfterSql(table, afterRow)} ${toLimitSql(table, MAX_BATCH_ROWS)}`);
    const lastRow = batch.at(-1);
    if (lastRow === undefined) return;
    const sourceRows = await selectRows(from, keyTable, toAnyOfSql(table, batch));
    const sourceKeys = new Set(sourceRows.map((row) => getRowKey(table, row)));
    const removedRows = batch.filter((row) => !sourceKeys.has(getRowKey(table, row)));
    if (removedRows.length > 0) await sql`DELETE FROM ${sql.table(table.name)} WHERE ${toAnyOfSql(table, removedRows)}`.execute(to);
    afterRow = lastRow;
  }
}

/** Reads integers as text, because some exceed the precision of a double. */
async function selectRows<DB>(database: Kysely<DB>, { name, columns, where }: Table, condition: RawBuilder<unknown>): Promise<Row[]> {
  const selectedColumns = columns.map(({ name: column, kind }) =>
    kind === "integer" ? sql`CAST(${sql.ref(column)} AS TEXT) AS ${sql.ref(column)}` : sql.ref(column),
  );
  const { rows } = await sql<Row>`SELECT ${sql.join(selectedColumns)} FROM ${sql.table(name)} WHERE ${where} AND ${condition}`.execute(
    database,
  );
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column.name, toStorableText(row[column.name])])));
}

const getValue = (row: Row, { name, kind }: Column) =>
  kind === "integer" && typeof row[name] === "string" ? BigInt(row[name]) : row[name];
const getRowKey = ({ key }: Table, row: Row) => key.map(({ name }) => String(row[name])).join("\0");
const toColumnList = (columns: readonly Column[]) => sql.join(columns.map(({ name }) => sql.ref(name)));
// Refers to the table's column, not to the selected text of the same name.
const toKeySql = ({ name, key }: Table) => sql.join(key.map((column) => sql.ref(`${name}.${column.name}`)));
const toLimitSql = (table: Table, count: number) => sql`ORDER BY ${toKeySql(table)} LIMIT ${sql.lit(count)}`;
const toKeyValues = ({ key }: Table, row: Row) => sql.join(key.map((column) => getValue(row, column)));
const toAfterSql = (table: Table, afterRow: Row | undefined) =>
  afterRow ? sql`(${toKeySql(table)}) > (${toKeyValues(table, afterRow)})` : sql`1 = 1`;
const toBetweenSql = (table: Table, afterRow: Row | undefined, untilRow: Row | undefined) =>
  untilRow
    ? sql`${toAfterSql(table, afterRow)} AND (${toKeySql(table)}) <= (${toKeyValues(table, untilRow)})`
    : toAfterSql(table, afterRow);
const toAnyOfSql = (table: Table, rows: readonly Row[]) =>
  sql`(${sql.join(
    rows.map((row) => sql`(${toKeySql(table)}) = (${toKeyValues(table, row)})`),
    sql` OR `,
  )})`;

/** Sorts referenced tables first. Tables without foreign keys are last, because triggers of other tables may write to them. */
async function listTables<DB>({ from, to, isExcluded }: TableCopy<DB>): Promise<Table[]> {
  const sqlite = [from, to].find((database) => !isPostgres(database));
  if (!sqlite) throw new Error("At least one database must be SQLite, because the table list is read from it.");
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> ${MARKER_TABLE} ORDER BY name`.execute(
    sqlite,
  );
  const names = rows.map(({ name }) => name).filter((name) => !isExcluded(name));
  const references = new Map<string, string[]>();
  for (const name of names) {
    const { rows: referenceRows } = await sql<{ table: string }>`SELECT DISTINCT "table" FROM pragma_foreign_key_list(${name})`.execute(
      sqlite,
    );
    references.set(
      name,
      referenceRows.map(({ table }) => table).filter((referencedName) => referencedName !== name),
    );
  }
  const orderedNames = new Set<string>();
  const addTable = (name: string): void => {
    for (const referencedName of references.get(name) ?? []) if (!orderedNames.has(referencedName)) addTable(referencedName);
    orderedNames.add(name);
  };
  for (const [name, referencedNames] of references) if (referencedNames.length > 0) addTable(name);
  for (const name of names) orderedNames.add(name);
  const tables: Table[] = [];
  for (const name of orderedNames) tables.push(await describeTable(sqlite, name));
  return tables;
}

async function describeTable<DB>(sqlite: Kysely<DB>, name: string): Promise<Table> {
  const { rows } = await sql<{ name: string; type: string; pk: number }>`
    SELECT name, type, pk FROM pragma_table_info(${name}) ORDER BY name`.execute(sqlite);
  const toColumn = ({ name: column, type }: { name: string; type: string }): Column => ({
    name: column,
    kind: /^(integer|bigint)$/i.test(type) ? "integer" : /^text$/i.test(type) ? "text" : "other",
  });
  const key = rows.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return { name, columns: rows.map(toColumn), key: (key.length > 0 ? key : rows).map(toColumn), hasKey: key.length > 0, where: sql`1 = 1` };
}

function toCounterTable(tables: readonly Table[], { table, keyColumns, count }: Counter): Table {
  const sourceTable = tables.find(({ name }) => name === table);
  const selectColumns = (names: readonly string[]) => (sourceTable?.columns ?? []).filter(({ name }) => names.includes(name));
  return {
    name: table,
    columns: selectColumns([...keyColumns, count]),
    key: selectColumns(keyColumns),
    hasKey: true,
    where: sql`${sql.ref(count)} <> 0`,
  };
}

/** Ensures that new rows get unused ids, even if earlier rows were deleted. */
async function updateSequence<DB>({ name, key: [key] }: Table, { from, to }: DatabasePair<DB>): Promise<void> {
  if (key?.kind !== "integer") return;
  const currentValue = await getSequenceValue(to, name, key.name);
  if (currentValue === undefined) return;
  const { rows } = await sql<{ last: number | null }>`SELECT max(${sql.ref(key.name)}) AS last FROM ${sql.table(name)}`.execute(to);
  const newValue = Math.max((await getSequenceValue(from, name, key.name)) ?? 0, Number(rows[0]?.last ?? 0));
  if (newValue === currentValue) return;
  if (isPostgres(to)) return void (await sql`SELECT setval(pg_get_serial_sequence(${name}, ${key.name}), ${newValue})`.execute(to));
  await sql`DELETE FROM sqlite_sequence WHERE name = ${name}`.execute(to);
  await sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${name}, ${newValue})`.execute(to);
}

/** Returns the last id that the table's sequence assigned, or 0. Undefined if the column has no sequence. */
async function getSequenceValue<DB>(database: Kysely<DB>, table: string, column: string): Promise<number | undefined> {
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
