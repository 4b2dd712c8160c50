// Resolves a file name: content hashes first, then the user's newest input, any other own asset, and public assets.
// With a suffix ` [output]`, ` [temp]` or ` [input]`, own assets with that tag come first.

import { basename } from "node:path/posix";
import { type RawBuilder, sql } from "kysely";
import { query, type Reader, toStatement } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";
import { readAssets, type StoredAsset } from "./asset-view";
import { rasterTypes } from "./media-type";

const hashNamePattern = /^(?:blake3:)?([0-9a-f]{64})(?:\.[A-Za-z0-9]{1,12})?$/;
const annotationPattern = / ?\[(input|output|temp)\]$/;
/** Limit for a name with its folders. Names that a job reads are indexed, and PostgreSQL indexes at most 2,704 bytes. */
const MAX_NAME_BYTES = 2000;
const BATCH_SIZE = 500;

export async function findAssetByName(reader: Reader, userId: number, name: string): Promise<StoredAsset | undefined> {
  const seq = (await findAssetSeqs(reader, userId, [name])).get(name);
  return seq === undefined ? undefined : (await readAssets(reader, [seq]))[0];
}

/** Returns the content for each file name. If several files share a name, the newest one wins, as in GET /api/view. */
export async function findFilesByName(
  reader: Reader,
  userId: number,
  names: readonly string[],
): Promise<Map<string, { hash: string; media_type: string }>> {
  const seqs = await findAssetSeqs(reader, userId, names);
  const files = new Map<number, { hash: string; media_type: string }>();
  const uniqueSeqs = [...new Set(seqs.values())];
  for (let start = 0; start < uniqueSeqs.length; start += BATCH_SIZE) {
    const batchQuery = query
      .selectFrom("assets")
      .innerJoin("blobs", "blobs.hash", "assets.hash")
      .select(["assets.seq", "assets.hash", "media_type"])
      .where("assets.seq", "in", uniqueSeqs.slice(start, start + BATCH_SIZE));
    for (const { seq, hash, media_type } of await reader.rows(batchQuery)) files.set(seq, { hash, media_type });
  }
  return new Map(
    [...seqs].flatMap(([name, seq]) => {
      const file = files.get(seq);
      return file ? [[name, file] as const] : [];
    }),
  );
}

async function findAssetSeqs(reader: Reader, userId: number, names: readonly string[]): Promise<Map<string, number>> {
  const validNames = [...new Set(names)].filter((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES);
  const seqByName = new Map<string, number>();
  for (let start = 0; start < validNames.length; start += BATCH_SIZE) {
    const batch = validNames.slice(start, start + BATCH_SIZE).map((name) => sql`(${sql.join(toLookupValues(name))})`);
    const seq = sql`coalesce(${selectFirst(userId, sql.ref("column2"))}, ${selectNewest(userId, "column3")}, ${selectNewest(userId, "column4")})`;
    const statement = sql<{
      name: string;
      seq: number | null;
    }>`select column1 as name, ${seq} as seq from (values ${sql.join(batch)}) as wanted`;
    for (const { name, seq: matchedSeq } of await reader.rows(toStatement(statement)))
      if (matchedSeq !== null) seqByName.set(name, matchedSeq);
  }
  return seqByName;
}

export function findHashInName(name: string): string | undefined {
  return hashNamePattern.exec(basename(name.replace(annotationPattern, "")))?.[1];
}

/** Returns the requested name, its hash, the file name with and without folders, and the preferred tag. */
function toLookupValues(name: string): (string | null)[] {
  const plainName = name.replace(annotationPattern, "");
  return [name, findHashInName(name) ?? null, plainName || null, basename(plainName) || null, annotationPattern.exec(name)?.[1] ?? "input"];
}

/** Selects one of several assets with the same content: prefers the user's own to public ones, then uploads to outputs, then the oldest. */
export async function findAssetSeqByHash(reader: Reader, userId: number, hash: string): Promise<number | undefined> {
  const row = await reader.row(toStatement(sql<{ seq: number | null }>`select ${selectFirst(userId, sql`${hash}`)} as seq`));
  return row?.seq ?? undefined;
}

function selectFirst(userId: number, hash: RawBuilder<unknown>): RawBuilder<number | null> {
  const selectFrom = (owner: number, condition: RawBuilder<unknown>) =>
    sql`(select seq from assets where hash = ${hash} and owner_id = ${owner} ${condition} order by seq limit 1)`;
  return sql<
    number | null
  >`coalesce(${selectFrom(userId, sql`and origin <> 'output'`)}, ${selectFrom(userId, sql``)}, ${selectFrom(PUBLIC_OWNER, sql``)})`;
}

/** `+ 0` forces the name index. With the time index, an unknown name would scan all assets of the owner. */
function selectNewest(userId: number, column: string): RawBuilder<number | null> {
  const selectFrom = (owner: number, condition: RawBuilder<unknown>) =>
    sql`(select seq from assets where name = ${sql.ref(column)} and owner_id = ${owner} ${condition} order by created_at + 0 desc, seq desc limit 1)`;
  const hasTag = sql`and exists (select 1 from asset_tags where asset_seq = assets.seq and tag = column5)`;
  return sql<number | null>`coalesce(${selectFrom(userId, hasTag)}, ${selectFrom(userId, sql``)}, ${selectFrom(PUBLIC_OWNER, sql``)})`;
}

const MAX_INPUT_NAMES = 1000;

export async function listInputNames(reader: Reader, userId: number): Promise<string[]> {
  const images = query
    .selectFrom("assets")
    .innerJoin("blobs", "blobs.hash", "assets.hash")
    .select("name")
    .where("media_type", "in", rasterTypes);
  const newestImages = images.orderBy("assets.created_at", "desc").orderBy("assets.id", "desc").limit(MAX_INPUT_NAMES);
  const ownImages = await reader.rows(newestImages.where("owner_id", "=", userId).where("origin", "=", "upload"));
  const publicImages = await reader.rows(newestImages.where("owner_id", "=", PUBLIC_OWNER));
  return [...new Set([...ownImages, ...publicImages].map((row) => row.name))];
}
