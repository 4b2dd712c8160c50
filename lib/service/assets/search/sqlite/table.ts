// What filters look at of every asset, in memory: its owner, folded name and tags. About 60 bytes plus the name for each.
// Guarantees: exact once `catchUp` has returned true. Read in pieces, so that no request waits for a million rows.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { assetChanges } from "@/lib/service/store/asset-triggers";
import { type Reader } from "@/lib/service/store/database";
import { plainStatement } from "@/lib/service/store/statement";
import { type Bits, newBits, withBit } from "./bits";
import { type Changes } from "./changes";
import { createCodes } from "./codes";
import { createNames } from "./names";
import { longer } from "./packing";

export type Table = ReturnType<typeof emptyTable>;

/** Takes about a millisecond to read. */
const AT_ONCE = 400;
const MOST_CHANGED = 4000;
/** Larger libraries use the search index alone. */
const MOST_ROWS = 2 ** 22;
const MOST_BYTES = 512 * 1024 * 1024;

/** User numbers begin at 0, so entries without an asset need another value: they must not look like assets of user 0. */
const GONE = 0xffffffff;

const NO_NAME = new Uint8Array(0);

type Known = { seq: number; owner: number; name: Uint8Array; codes: string };

const PIECE = `
  SELECT json_group_array(json_array(seq, owner_id, octet_length(name_folded), codes)) AS assets, CAST(group_concat(name_folded, '') AS BLOB) AS names
  FROM (SELECT seq, owner_id, name_folded, codes FROM assets LEFT JOIN asset_tag_codes ON asset_seq = seq`;
const FROM_THERE = `${PIECE} WHERE seq > ? ORDER BY seq LIMIT ${AT_ONCE})`;
const THESE = `${PIECE} WHERE seq IN (SELECT value FROM json_each(?)))`;

function emptyTable(position: number) {
  return { names: createNames(), codes: createCodes(), owners: new Uint32Array(1024).fill(GONE), end: 0, position };
}

/** Reads the table piece by piece; undefined if there is too much to keep. */
export async function* readTable(reader: Reader, changes: Changes): AsyncGenerator<void, Table | undefined> {
  const table = emptyTable(changes.end());
  for (let last = 0; ; yield) {
    const found = await read(reader, FROM_THERE, last);
    for (const asset of found) put(table, asset);
    last = found.at(-1)?.seq ?? last;
    if (last > MOST_ROWS || table.names.size() + table.codes.size() > MOST_BYTES) return undefined;
    if (found.length < AT_ONCE) return table;
  }
}

/** False if the table has to be read anew. */
export async function catchUp(table: Table, reader: Reader, changes: Changes): Promise<boolean> {
  const position = changes.end();
  const changed = changes.since(table.position, assetChanges.existence | assetChanges.name | assetChanges.tags);
  if (changed === undefined || changed.length > MOST_CHANGED) return false;
  if (changed.length > 0) {
    const found = await read(reader, THESE, writeExactJson(changed));
    for (const seq of changed) if (seq < table.end) put(table, { seq, owner: GONE, name: NO_NAME, codes: "" });
    for (const asset of found) put(table, asset);
  }
  table.position = position;
  return true;
}

export function ownedBy({ owners, end }: Table, owner: number): Bits {
  const bits = newBits(end);
  for (let seq = 0; seq < end; seq += 1) if (owners[seq] === owner) withBit(bits, seq, true);
  return bits;
}

async function read(reader: Reader, text: string, from: number | string): Promise<Known[]> {
  const piece = await reader.row(plainStatement<{ assets: string; names: Uint8Array | null }>(text, [from]));
  const assets: [number, number, number, string | null][] = JSON.parse(piece?.assets ?? "[]"); // as the statement makes it
  let at = 0;
  return assets.map(([seq, owner, length, codes]) => {
    const name = piece?.names?.subarray(at, at + length) ?? NO_NAME;
    at += length;
    return { seq, owner, name, codes: codes ?? "" };
  });
}

function put(table: Table, { seq, owner, name, codes }: Known): void {
  if (seq >= table.end) {
    const room = table.owners.length;
    // Numbers in between that were never put belong to assets that are gone or not made yet.
    if (seq >= room) table.owners = longer(table.owners, seq + 1).fill(GONE, room);
    table.end = seq + 1;
  }
  table.owners.set([owner], seq);
  table.names.put(seq, name);
  table.codes.put(seq, codes);
}
