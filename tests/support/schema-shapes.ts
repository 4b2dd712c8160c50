// Describes the tables of a database in the same terms for SQLite and PostgreSQL, to compare them.
import pg from "pg";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

type Column = { name: string; kind: string; isRequired: boolean; defaultValue: string | null };
type Shape = { columns: Column[]; primary: string[]; unique: string[]; references: string[]; indexes: string[] };

/** `ownPattern` matches tables that only one of the databases has. */
export function readSqliteShapes(file: string, ownPattern: RegExp): Map<string, Shape> {
  const database = new SqliteConnection(file, { readOnly: true });
  const queryAll = (text: string) => database.prepare<[], Record<string, string | number | null>>(text).all();
  const tables = queryAll("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => String(name));
  const shapes = tables
    .filter((table) => !ownPattern.test(table))
    .map((table): [string, Shape] => {
      const columns = queryAll(`PRAGMA table_info("${table}")`);
      const key = columns.filter(({ pk }) => Number(pk) > 0).sort((column, other) => Number(column.pk) - Number(other.pk));
      const indexes = queryAll(`PRAGMA index_list("${table}")`).map((index) => {
        const names = queryAll(`PRAGMA index_info("${String(index.name)}")`).map(({ name }) => String(name));
        const schemaRow = database
          .prepare<[string], { sql: string | null }>("SELECT sql FROM sqlite_master WHERE name = ?")
          .get(String(index.name));
        const where = / WHERE (.*)$/i.exec(schemaRow?.sql ?? "")?.[1] ?? "";
        return { ...index, text: formatIndex(String(index.name), index.unique === 1, names, where), columns: names.join(",") };
      });
      return [
        table,
        {
          columns: sortByName(
            columns.map((column) => ({
              name: String(column.name),
              kind: getKind(String(column.type)),
              // SQLite allows NULL in a key unless the column forbids it.
              isRequired: column.notnull === 1 || Number(column.pk) > 0,
              defaultValue: column.dflt_value === null ? null : String(column.dflt_value),
            })),
          ),
          primary: key.map(({ name }) => String(name)),
          unique: indexes
            .filter((index) => "origin" in index && index.origin === "u")
            .map((index) => index.columns)
            .sort(),
          references: queryAll(`PRAGMA foreign_key_list("${table}")`)
            .map(
              ({ from, table: referencedTable, to, on_delete: onDelete }) =>
                `${from} ${referencedTable}.${to} ${String(onDelete).toLowerCase()}`,
            )
            .sort(),
          indexes: indexes
            .filter((index) => "origin" in index && index.origin === "c")
            .map(({ text }) => text)
            .sort(),
        },
      ];
    });
  database.close();
  return new Map(shapes);
}

export async function readPostgresShapes(url: string, ownPattern: RegExp, schema = "public"): Promise<Map<string, Shape>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const queryAll = async (text: string) => (await client.query<Record<string, string>>(text)).rows;
  const columns = await queryAll(
    `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE table_schema = '${schema}'`,
  );
  const constraints = await queryAll(`
    SELECT rel.relname AS table_name, con.contype::text AS kind, con.confdeltype::text AS then, other.relname AS other,
      (SELECT string_agg(att.attname, ',' ORDER BY place.at) FROM unnest(con.conkey) WITH ORDINALITY AS place (number, at)
        JOIN pg_attribute att ON att.attrelid = con.conrelid AND att.attnum = place.number) AS columns,
      (SELECT string_agg(att.attname, ',' ORDER BY place.at) FROM unnest(con.confkey) WITH ORDINALITY AS place (number, at)
        JOIN pg_attribute att ON att.attrelid = con.confrelid AND att.attnum = place.number) AS others
    FROM pg_constraint con JOIN pg_class rel ON rel.oid = con.conrelid LEFT JOIN pg_class other ON other.oid = con.confrelid
    WHERE con.connamespace = '${schema}'::regnamespace`);
  const indexes = await queryAll(`
    SELECT rel.relname AS table_name, ind.relname AS name, idx.indisunique::text AS is_unique, pg_get_expr(idx.indpred, idx.indrelid) AS where,
      (SELECT string_agg(att.attname, ',' ORDER BY place.at) FROM unnest(idx.indkey) WITH ORDINALITY AS place (number, at)
        JOIN pg_attribute att ON att.attrelid = idx.indrelid AND att.attnum = place.number WHERE place.at <= idx.indnkeyatts) AS columns
    FROM pg_index idx JOIN pg_class rel ON rel.oid = idx.indrelid JOIN pg_class ind ON ind.oid = idx.indexrelid
    WHERE rel.relnamespace = '${schema}'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = idx.indexrelid)`);
  await client.end();
  const deleteActions: Record<string, string> = { c: "cascade", n: "set null", a: "no action" };
  const tables = [...new Set(columns.map((column) => column.table_name ?? ""))].filter((table) => !ownPattern.test(table));
  return new Map(
    tables.map((table) => {
      const tableConstraints = constraints.filter((constraint) => constraint.table_name === table);
      const shape: Shape = {
        columns: sortByName(
          columns
            .filter((column) => column.table_name === table)
            .map((column) => ({
              name: column.column_name ?? "",
              kind: getKind(column.data_type ?? ""),
              isRequired: column.is_nullable === "NO",
              defaultValue: column.column_default?.replace(/::\w+$/, "") ?? null,
            })),
        ),
        primary: tableConstraints.find(({ kind }) => kind === "p")?.columns?.split(",") ?? [],
        unique: tableConstraints.flatMap(({ kind, columns: names = "" }) => (kind === "u" ? [names] : [])).sort(),
        references: tableConstraints
          .flatMap(({ kind, columns: names, other, others, then = "" }) =>
            kind === "f" ? [`${names} ${other}.${others} ${deleteActions[then]}`] : [],
          )
          .sort(),
        indexes: indexes
          .filter((index) => index.table_name === table && !ownPattern.test(index.name ?? ""))
          .map(({ name = "", is_unique: isUnique, columns: names = "", where }) =>
            formatIndex(name, isUnique === "true", names.split(","), where ?? ""),
          )
          .sort(),
      };
      return [table, shape];
    }),
  );
}

/** PostgreSQL prints a list of values as an array of texts. */
function formatIndex(name: string, isUnique: boolean, columns: readonly string[], where: string): string {
  const condition = where
    .toLowerCase()
    .replace(/[()]/g, "")
    .replaceAll("::text", "")
    .replace(/= any array\[(.*?)\]/g, "in $1");
  return `${isUnique ? "unique " : ""}${name} (${columns.join(",")}) ${condition}`.trim();
}

/** The width of integers is ignored: SQLite has only one. */
function getKind(type: string): string {
  return /^(integer|bigint)$/i.test(type) ? "whole" : type.toLowerCase();
}

function sortByName(columns: Column[]): Column[] {
  return columns.sort((column, other) => (column.name < other.name ? -1 : 1));
}
