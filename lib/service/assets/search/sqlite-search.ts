// Searches assets on SQLite: full text for names and tags, a table for metadata values. Each page uses the cheapest of three query plans.

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createValuesSql, getFirstKey, MAX_VALUE_LENGTH, toKeySql, toSeqSql, toTagCode } from "@/lib/service/store/asset-index";
import { query, type Reader, toStatement } from "@/lib/service/store/database";
import {
  type AssetPage,
  type AssetSearch,
  countOwnedAssets,
  createConditions,
  createDocuments,
  getOwners,
  type MetadataCondition,
  type ParsedAssetFilter,
  sortColumns,
} from "./asset-search";

type RowsSql = RawBuilder<unknown>;

type OwnerSearch = {
  owner: number;
  ownedCount: number;
  total: number;
  tests: RowsSql[];
  matchingKeys?: RowsSql;
  excludedKeys?: RowsSql;
};

/** Measured costs per row. Only their ratios matter. */
const ROW_COSTS = { test: 1.5, metadataTest: 4, collect: 1.8, list: 0.3, lookUp: 0.3 };
/** Combined conditions with up to this many matches are listed while they are counted, so that the page needs no second search. */
const MAX_LISTED_KEYS = 200_000;
/** Keys per tag-counting statement, which limits its memory. */
const TAG_COUNT_BATCH_KEYS = 2 ** 18;

export function createSqliteSearch(reader: Reader): AssetSearch {
  return {
    async findPage(userId, filter, includePublic, page) {
      if (filter.isUnsatisfiable) return { seqs: [], total: 0 };
      const searches = await Promise.all(getOwners(userId, includePublic).map((owner) => prepareOwnerSearch(reader, owner, filter)));
      const total = searches.reduce((sum, search) => sum + search.total, 0);
      const length = Math.max(0, Math.min(page.limit, total - page.offset));
      if (length === 0) return { seqs: [], total };
      const endOffset = total - page.offset - length;
      const isReversed = endOffset < page.offset;
      const offset = isReversed ? endOffset : page.offset;
      const direction = sql.raw((page.order === "desc") !== isReversed ? "desc" : "asc");
      const column = sql.ref(sortColumns[page.sort].column);
      const nonEmptySearches = searches.filter((search) => search.total > 0);
      const rowSources = nonEmptySearches.map((search) => selectCheapestRows(search, filter, page.sort, offset + length));
      const selections = rowSources.map((rows) => sql`select assets.seq, assets.id as tie, ${column} as sort_value from ${rows}`);
      const pageQuery = sql<{ seq: number }>`${sql.join(selections, sql` union all `)} order by sort_value ${direction}, tie ${direction}
        limit ${length} offset ${offset}`;
      const seqs = (await reader.rows(toStatement(pageQuery))).map((row) => row.seq);
      return { seqs: isReversed ? seqs.reverse() : seqs, total };
    },

    async countTags(userId, filter, includePublic) {
      const counts = new Map<string, number>();
      const addCount = (tag: string, n: number) => void counts.set(tag, (counts.get(tag) ?? 0) + n);
      for (const owner of filter.isUnsatisfiable ? [] : getOwners(userId, includePublic)) {
        const { matchingKeys, excludedKeys } = await prepareOwnerSearch(reader, owner, filter);
        if (matchingKeys) await visitTags(reader, owner, matchingKeys, (tag) => addCount(tag, 1));
        else {
          const ownedTags = query.selectFrom("tag_counts").select(["tag", "n"]).where("owner_id", "=", owner);
          for (const { tag, n } of await reader.rows(ownedTags)) addCount(tag, n);
          if (excludedKeys) await visitTags(reader, owner, excludedKeys, (tag) => addCount(tag, -1));
        }
      }
      return counts;
    },
  };
}

function selectCheapestRows(
  ownerSearch: OwnerSearch,
  { metadata }: ParsedAssetFilter,
  sort: AssetPage["sort"],
  rowsNeeded: number,
): RowsSql {
  const { owner, ownedCount, total, tests, matchingKeys, excludedKeys } = ownerSearch;
  const indexScan = sql`assets indexed by ${sql.raw(sortColumns[sort].index)} where owner_id = ${owner}`;
  if (tests.length === 0) return indexScan;
  const scannedRows = Math.min(ownedCount, (rowsNeeded * ownedCount) / total);
  const key = sql.raw(toKeySql("assets"));
  const keyFilter = matchingKeys ? sql`${key} in (${matchingKeys})` : sql`${key} not in (${excludedKeys})`;
  const plans = [
    {
      cost: scannedRows * (metadata.length > 0 ? ROW_COSTS.metadataTest : ROW_COSTS.test),
      rows: sql`${indexScan} and ${sql.join(tests, sql` and `)}`,
    },
    {
      cost: scannedRows * ROW_COSTS.lookUp + (matchingKeys ? total : ownedCount - total) * ROW_COSTS.list,
      rows: sql`${indexScan} and ${keyFilter}`,
    },
    ...(matchingKeys ? [{ cost: total * ROW_COSTS.collect, rows: selectAssetsByKeys(matchingKeys) }] : []),
  ];
  return plans.reduce((cheapest, plan) => (plan.cost < cheapest.cost ? plan : cheapest)).rows;
}

async function prepareOwnerSearch(reader: Reader, owner: number, filter: ParsedAssetFilter): Promise<OwnerSearch> {
  const { include, exclude, name, metadata } = filter;
  const ownedCount = await countOwnedAssets(reader, owner);
  const tags = await readTags(reader, owner, [...include, ...exclude]);
  const tests = createConditions(filter, sql`instr(name_folded, ${name}) > 0`, createMetadataTest);
  const base = { owner, ownedCount, tests };
  if (ownedCount === 0 || include.some((tag) => (tags.get(tag)?.n ?? 0) === 0))
    return { ...base, total: 0, matchingKeys: sql`select 0 as key where false` };
  // The trigram index needs at least three characters, and FTS5 queries end at a NUL.
  const isNameIndexed = Array.from(name).length >= 3 && !name.includes("\0");
  const toTerm = (tag: string) => `tags : "${tags.get(tag)?.code ?? ""}"`;
  const excludedTerms = exclude
    .filter((tag) => (tags.get(tag)?.n ?? 0) > 0)
    .map(toTerm)
    .join(" OR ");
  const ftsQuery = [...include.map(toTerm), ...(isNameIndexed ? [`name : "${name.replaceAll('"', '""')}"`] : [])].join(" AND ");
  const keySets = [
    ...(ftsQuery === "" ? [] : [selectKeysByText(owner, excludedTerms === "" ? ftsQuery : `(${ftsQuery}) NOT (${excludedTerms})`)]),
    ...metadata.map((condition) => selectKeysByMetadata(owner, condition)),
  ];
  const excludedKeys = excludedTerms === "" ? undefined : selectKeysByText(owner, excludedTerms);
  const [firstSet, ...otherSets] = keySets;
  if (!firstSet && name === "")
    return {
      ...base,
      tests: excludedKeys ? tests : [],
      excludedKeys,
      total: ownedCount - (excludedKeys ? await countExcludedAssets(reader, exclude, tags, excludedKeys) : 0),
    };
  // The `+` prevents SQLite from running the full-text search once per key of another set.
  const keyFilters = otherSets.map((set) => sql`+key in (${set})`);
  if (ftsQuery === "" && excludedKeys) keyFilters.push(sql`+key not in (${excludedKeys})`);
  const keys = firstSet && sql`select key from (${firstSet}) where ${sql.join([sql`true`, ...keyFilters], sql` and `)}`;
  const isExact = (name === "" || isNameIndexed) && !metadata.some(isPartlyIndexed);
  const key = sql.raw(toKeySql("assets"));
  const matchingKeys = !keys
    ? sql`select ${key} as key from assets indexed by assets_by_folded_name where owner_id = ${owner} and ${sql.join(tests, sql` and `)}`
    : isExact
      ? keys
      : sql`select key from ${selectAssetsByKeys(keys)} where ${sql.join(tests, sql` and `)}`;
  const [tag] = include;
  const isOneTag = tag !== undefined && include.length === 1 && excludedTerms === "" && name === "" && metadata.length === 0;
  if (isOneTag) return { ...base, matchingKeys, total: tags.get(tag)?.n ?? 0 };
  const conditionCount = include.length + metadata.length + Number(name !== "");
  if (conditionCount < 2 || Math.min(...include.map((value) => tags.get(value)?.n ?? 0)) > MAX_LISTED_KEYS) {
    return { ...base, matchingKeys, total: await countKeys(reader, matchingKeys) };
  }
  const listQuery = sql<{ keys: string; n: number }>`select json_group_array(key) as keys, count(*) as n from (${matchingKeys})`;
  const row = await reader.row(toStatement(listQuery));
  return { ...base, matchingKeys: sql`select value as key from json_each(${row?.keys ?? "[]"})`, total: row?.n ?? 0 };
}

async function countExcludedAssets(reader: Reader, exclude: readonly string[], tags: Tags, excludedKeys: RowsSql): Promise<number> {
  const [tag] = exclude;
  return tag !== undefined && exclude.length === 1 ? (tags.get(tag)?.n ?? 0) : countKeys(reader, excludedKeys);
}

async function countKeys(reader: Reader, keys: RowsSql): Promise<number> {
  return (await reader.row(toStatement(sql<{ n: number }>`select count(*) as n from (${keys})`)))?.n ?? 0;
}

type Tags = ReadonlyMap<string, { code: string; n: number }>;

async function readTags(reader: Reader, owner: number, tags: readonly string[]): Promise<Tags> {
  if (tags.length === 0) return new Map();
  const tagQuery = query.selectFrom("tag_counts").select(["id", "tag", "n"]).where("owner_id", "=", owner).where("tag", "in", tags);
  return new Map((await reader.rows(tagQuery)).map(({ id, tag, n }) => [tag, { code: toTagCode(id), n }]));
}

function createOwnerKeyRange(key: string, owner: number): RowsSql {
  const [firstKey, endKey] = [getFirstKey(owner), getFirstKey(owner + 1)];
  return sql`${sql.raw(key)} >= cast(${firstKey} as integer) and ${sql.raw(key)} < cast(${endKey} as integer)`;
}

function selectKeysByText(owner: number, ftsQuery: string): RowsSql {
  return sql`select rowid as key from asset_search where asset_search match ${ftsQuery} and ${createOwnerKeyRange("rowid", owner)}`;
}

function selectKeysByMetadata(owner: number, condition: MetadataCondition): RowsSql {
  return sql`select distinct asset as key from asset_search_values where (path, value) in (${selectMatchingValues(condition, MAX_VALUE_LENGTH)})
    and ${createOwnerKeyRange("asset", owner)}`;
}

function selectMatchingValues(condition: MetadataCondition, maxLength?: number): RowsSql {
  const { columns, source } = createValuesSql("requested.document", maxLength);
  return sql`select ${sql.raw(columns)} from (select value as document from json_each(${writeExactJson(createDocuments(condition))})) as requested
    join ${sql.raw(source)}`;
}

function createMetadataTest(condition: MetadataCondition): RowsSql {
  const { columns, source } = createValuesSql("assets.metadata");
  return sql`exists (select 1 from (select ${sql.raw(columns)} from ${sql.raw(source)}) as stored
    where (stored.path, stored.value) in (${selectMatchingValues(condition)}))`;
}

/** True if a value is so long that only its beginning is indexed. */
function isPartlyIndexed({ values }: MetadataCondition): boolean {
  return values.some((value) => writeExactJson(value).length >= MAX_VALUE_LENGTH);
}

function selectAssetsByKeys(keys: RowsSql): RowsSql {
  return sql`(${keys}) as found cross join assets on assets.seq = ${sql.raw(toSeqSql("found.key"))}`;
}

async function visitTags(reader: Reader, owner: number, keys: RowsSql, visit: (tag: string) => void): Promise<void> {
  const maxSeq = (await reader.row(query.selectFrom("assets").select(({ fn }) => fn.max("seq").as("seq"))))?.seq ?? 0;
  for (let seq = 0; seq <= maxSeq; seq += TAG_COUNT_BATCH_KEYS) {
    const firstKey = getFirstKey(owner) + seq;
    const batch = sql`select key from (${keys}) where key >= cast(${firstKey} as integer) and key < cast(${firstKey + TAG_COUNT_BATCH_KEYS} as integer)`;
    const tagsQuery = sql<{ tags: string | null }>`select group_concat(tag, char(10)) as tags from (${batch}) as found
      cross join asset_tags on asset_seq = ${sql.raw(toSeqSql("found.key"))}`;
    const text = (await reader.row(toStatement(tagsQuery)))?.tags;
    for (const tag of text?.split("\n") ?? []) visit(tag);
  }
}
