// Searches assets on SQLite: full text for names and tags, a table for metadata values. The cheapest of three plans reads a page.

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { firstKey, keyOf, MAX_VALUE_LENGTH, seqOf, tagCode, valuesOf } from "@/lib/service/store/asset-index";
import { query, type Reader, statement } from "@/lib/service/store/database";
import {
  type AssetPage,
  type AssetSearch,
  countOwned,
  documentsOf,
  type MetadataCondition,
  orders,
  ownersOf,
  type ReadFilter,
  testsOf,
} from "./asset-search";

type Rows = RawBuilder<unknown>;

type Part = {
  owner: number;
  everything: number;
  total: number;
  tests: Rows[];
  found?: Rows;
  excluded?: Rows;
};

/** Measured costs per row. Only their ratios matter. */
const COST = { tested: 1.5, testedWithMetadata: 4, collected: 1.8, listed: 0.3, lookedUp: 0.3 };
/** Up to this many matches of combined conditions are listed while counting, so that the page needs no second search. */
const MAX_LISTED = 200_000;
/** Keys per tag-counting statement. Limits its memory. */
const SLICE = 2 ** 18;

export function createSqliteSearch(reader: Reader): AssetSearch {
  return {
    async findPage(userId, filter, includePublic, page) {
      if (filter.isNever) return { seqs: [], total: 0 };
      const parts = await Promise.all(ownersOf(userId, includePublic).map((owner) => readPart(reader, owner, filter)));
      const total = parts.reduce((sum, part) => sum + part.total, 0);
      const length = Math.max(0, Math.min(page.limit, total - page.offset));
      if (length === 0) return { seqs: [], total };
      const fromEnd = total - page.offset - length;
      const isReversed = fromEnd < page.offset;
      const offset = isReversed ? fromEnd : page.offset;
      const direction = sql.raw((page.order === "desc") !== isReversed ? "desc" : "asc");
      const column = sql.ref(orders[page.sort].column);
      const matching = parts.filter((part) => part.total > 0);
      const rows = matching.map((part) => rowsOf(part, filter, page.sort, offset + length));
      const selections = rows.map((from) => sql`select assets.seq, assets.id as tie, ${column} as place from ${from}`);
      const text = sql<{ seq: number }>`${sql.join(selections, sql` union all `)} order by place ${direction}, tie ${direction}
        limit ${length} offset ${offset}`;
      const seqs = (await reader.rows(statement(text))).map((row) => row.seq);
      return { seqs: isReversed ? seqs.reverse() : seqs, total };
    },

    async countTags(userId, filter, includePublic) {
      const counts = new Map<string, number>();
      const add = (tag: string, n: number) => void counts.set(tag, (counts.get(tag) ?? 0) + n);
      for (const owner of filter.isNever ? [] : ownersOf(userId, includePublic)) {
        const { found, excluded } = await readPart(reader, owner, filter);
        if (found) await tallyTags(reader, owner, found, (tag) => add(tag, 1));
        else {
          const all = query.selectFrom("tag_counts").select(["tag", "n"]).where("owner_id", "=", owner);
          for (const { tag, n } of await reader.rows(all)) add(tag, n);
          if (excluded) await tallyTags(reader, owner, excluded, (tag) => add(tag, -1));
        }
      }
      return counts;
    },
  };
}

function rowsOf(part: Part, { metadata }: ReadFilter, sort: AssetPage["sort"], reach: number): Rows {
  const { owner, everything, total, tests, found, excluded } = part;
  const along = sql`assets indexed by ${sql.raw(orders[sort].index)} where owner_id = ${owner}`;
  if (tests.length === 0) return along;
  const steps = Math.min(everything, (reach * everything) / total);
  const key = sql.raw(keyOf("assets"));
  const among = found ? sql`${key} in (${found})` : sql`${key} not in (${excluded})`;
  const ways = [
    { cost: steps * (metadata.length > 0 ? COST.testedWithMetadata : COST.tested), rows: sql`${along} and ${sql.join(tests, sql` and `)}` },
    { cost: steps * COST.lookedUp + (found ? total : everything - total) * COST.listed, rows: sql`${along} and ${among}` },
    ...(found ? [{ cost: total * COST.collected, rows: assetsOf(found) }] : []),
  ];
  return ways.reduce((best, way) => (way.cost < best.cost ? way : best)).rows;
}

async function readPart(reader: Reader, owner: number, filter: ReadFilter): Promise<Part> {
  const { include, exclude, name, metadata } = filter;
  const everything = await countOwned(reader, owner);
  const tags = await readTags(reader, owner, [...include, ...exclude]);
  const tests = testsOf(filter, sql`instr(name_folded, ${name}) > 0`, holdsMetadata);
  const part = { owner, everything, tests };
  if (everything === 0 || include.some((tag) => (tags.get(tag)?.n ?? 0) === 0))
    return { ...part, total: 0, found: sql`select 0 as key where false` };
  // The trigram index needs at least three characters, and FTS5 queries end at a NUL.
  const isIndexed = Array.from(name).length >= 3 && !name.includes("\0");
  const term = (tag: string) => `tags : "${tags.get(tag)?.code ?? ""}"`;
  const unwanted = exclude
    .filter((tag) => (tags.get(tag)?.n ?? 0) > 0)
    .map(term)
    .join(" OR ");
  const words = [...include.map(term), ...(isIndexed ? [`name : "${name.replaceAll('"', '""')}"`] : [])].join(" AND ");
  const sets = [
    ...(words === "" ? [] : [matching(owner, unwanted === "" ? words : `(${words}) NOT (${unwanted})`)]),
    ...metadata.map((condition) => withMetadata(owner, condition)),
  ];
  const excluded = unwanted === "" ? undefined : matching(owner, unwanted);
  const [first, ...others] = sets;
  if (!first && name === "")
    return {
      ...part,
      tests: excluded ? tests : [],
      excluded,
      total: everything - (excluded ? await countExcluded(reader, exclude, tags, excluded) : 0),
    };
  // The `+` stops SQLite from running the full-text search once per key of another set.
  const among = others.map((set) => sql`+key in (${set})`);
  if (words === "" && excluded) among.push(sql`+key not in (${excluded})`);
  const keys = first && sql`select key from (${first}) where ${sql.join([sql`true`, ...among], sql` and `)}`;
  const isExact = (name === "" || isIndexed) && !metadata.some(isLong);
  const key = sql.raw(keyOf("assets"));
  const found = !keys
    ? sql`select ${key} as key from assets indexed by assets_by_folded_name where owner_id = ${owner} and ${sql.join(tests, sql` and `)}`
    : isExact
      ? keys
      : sql`select key from ${assetsOf(keys)} where ${sql.join(tests, sql` and `)}`;
  const [tag] = include;
  const isOneTag = tag !== undefined && include.length === 1 && unwanted === "" && name === "" && metadata.length === 0;
  if (isOneTag) return { ...part, found, total: tags.get(tag)?.n ?? 0 };
  const conditions = include.length + metadata.length + Number(name !== "");
  if (conditions < 2 || Math.min(...include.map((one) => tags.get(one)?.n ?? 0)) > MAX_LISTED) {
    return { ...part, found, total: await count(reader, found) };
  }
  const listed = sql<{ keys: string; n: number }>`select json_group_array(key) as keys, count(*) as n from (${found})`;
  const row = await reader.row(statement(listed));
  return { ...part, found: sql`select value as key from json_each(${row?.keys ?? "[]"})`, total: row?.n ?? 0 };
}

async function countExcluded(reader: Reader, exclude: readonly string[], tags: Tags, excluded: Rows): Promise<number> {
  const [tag] = exclude;
  return tag !== undefined && exclude.length === 1 ? (tags.get(tag)?.n ?? 0) : count(reader, excluded);
}

async function count(reader: Reader, found: Rows): Promise<number> {
  return (await reader.row(statement(sql<{ n: number }>`select count(*) as n from (${found})`)))?.n ?? 0;
}

type Tags = ReadonlyMap<string, { code: string; n: number }>;

async function readTags(reader: Reader, owner: number, tags: readonly string[]): Promise<Tags> {
  if (tags.length === 0) return new Map();
  const rows = query.selectFrom("tag_counts").select(["id", "tag", "n"]).where("owner_id", "=", owner).where("tag", "in", tags);
  return new Map((await reader.rows(rows)).map(({ id, tag, n }) => [tag, { code: tagCode(id), n }]));
}

function ofOwner(key: string, owner: number): Rows {
  const [first, last] = [firstKey(owner), firstKey(owner + 1)];
  return sql`${sql.raw(key)} >= cast(${first} as integer) and ${sql.raw(key)} < cast(${last} as integer)`;
}

function matching(owner: number, words: string): Rows {
  return sql`select rowid as key from asset_search where asset_search match ${words} and ${ofOwner("rowid", owner)}`;
}

function withMetadata(owner: number, condition: MetadataCondition): Rows {
  return sql`select distinct asset as key from asset_search_values where (path, value) in (${wantedValues(condition, MAX_VALUE_LENGTH)})
    and ${ofOwner("asset", owner)}`;
}

function wantedValues(condition: MetadataCondition, maxLength?: number): Rows {
  const { columns, source } = valuesOf("wanted.document", maxLength);
  return sql`select ${sql.raw(columns)} from (select value as document from json_each(${writeExactJson(documentsOf(condition))})) as wanted
    join ${sql.raw(source)}`;
}

function holdsMetadata(condition: MetadataCondition): Rows {
  const { columns, source } = valuesOf("assets.metadata");
  return sql`exists (select 1 from (select ${sql.raw(columns)} from ${sql.raw(source)}) as held
    where (held.path, held.value) in (${wantedValues(condition)}))`;
}

/** Only the beginning of such a value is indexed. */
function isLong({ values }: MetadataCondition): boolean {
  return values.some((value) => writeExactJson(value).length >= MAX_VALUE_LENGTH);
}

function assetsOf(keys: Rows): Rows {
  return sql`(${keys}) as found cross join assets on assets.seq = ${sql.raw(seqOf("found.key"))}`;
}

async function tallyTags(reader: Reader, owner: number, keys: Rows, visit: (tag: string) => void): Promise<void> {
  const last = (await reader.row(query.selectFrom("assets").select(({ fn }) => fn.max("seq").as("seq"))))?.seq ?? 0;
  for (let from = 0; from <= last; from += SLICE) {
    const first = firstKey(owner) + from;
    const slice = sql`select key from (${keys}) where key >= cast(${first} as integer) and key < cast(${first + SLICE} as integer)`;
    const tags = sql<{ tags: string | null }>`select group_concat(tag, char(10)) as tags from (${slice}) as found
      cross join asset_tags on asset_seq = ${sql.raw(seqOf("found.key"))}`;
    const text = (await reader.row(statement(tags)))?.tags;
    for (const tag of text?.split("\n") ?? []) visit(tag);
  }
}
