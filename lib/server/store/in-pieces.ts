// Reading the rows of any number of ids. A statement of SQLite holds 32,766 values at most, and a service may list more jobs than that.

import "server-only";

const AT_ONCE = 5000;

/** `read` is called with at most five thousand ids at a time, and never without any. */
export async function inPieces<Row>(ids: readonly string[], read: (some: readonly string[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) for (const row of await read(ids.slice(at, at + AT_ONCE))) rows.push(row);
  return rows;
}
