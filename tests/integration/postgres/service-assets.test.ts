// Assets behave the same on SQLite and PostgreSQL: after the same random changes, every request has the same response.
import { join } from "node:path";
import fc from "fast-check";
import { CompiledQuery } from "kysely";
import { afterAll, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { findAsset } from "@/lib/service/assets/asset-view";
import { addTags, editAsset, listTags, removeTags } from "@/lib/service/assets/change-asset";
import { insertAsset } from "@/lib/service/assets/create-asset";
import { findAssetByName, findAssetSeqByHash, listInputNames } from "@/lib/service/assets/file-names";
import { getRemainingQuota, readUsedBytes } from "@/lib/service/assets/quota";
import { type AssetSearch, createPostgresSearch, parseFilter } from "@/lib/service/assets/search/asset-search";
import { createSqliteSearch } from "@/lib/service/assets/search/sqlite-search";
import { createStatement, type Database, query, type Reader, type Transaction } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { uniformFloat } from "@/tests/support/uniform-float";

type AssetStore = { database: Database; search: AssetSearch };

const now = () => 1_700_000_000_000;

const sqlite = await openDatabase(join(createTemporaryFolder(), "service.sqlite"), now);
const postgres = await openPostgres(await openTestDatabase(), now);
const sqliteStore = { database: sqlite, search: createSqliteSearch(sqlite) };
const postgresStore = { database: postgres, search: createPostgresSearch(postgres) };

afterAll(async () => {
  await sqlite.close();
  await postgres.close();
});

const OWNERS = [0, 1, 2];
const NAMES = [
  ...["50%_off", "a\\b", "a", "ab", "Zebra cat", "zebra CAT.png", "cat", "catalogue", "🐈 cat", "Straße", "ΟΔΟΣ", "鳥の絵.png"],
  'it\'s "so"',
];
const name = fc.constantFrom(...NAMES);
const tag = fc.constantFrom("cat", "Cat", "鳥", "input", "output", "50%", "none-such");
const tags = fc.uniqueArray(tag, { maxLength: 3 });
const scalar = fc.constantFrom<unknown>(
  ...[0, 1, 1.5, -3, 0.1, 1e300, "1", "", "true", true, false, null, "it's", "\\u0000", "\0", "\ud800", "鳥", "%"],
  ...[9_007_199_254_740_993n, 12_345_678_901_234_567_890n, 12_345_678_901_234_567_891n],
);
const key = fc.constantFrom("v", "v", "v", "a.b", "a", "0", "__proto__");
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.array(fc.oneof(scalar, fc.constantFrom<unknown>([1], { v: 1 })), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("b", "v", "0"), scalar, { maxKeys: 2 }),
);
const metadata = fc.dictionary(key, value, { maxKeys: 3 });

const operationArbitrary = fc.record({
  kind: fc.constantFrom(
    ...Array.from({ length: 6 }, () => "create" as const),
    "tag",
    "untag",
    "rename",
    "describe",
    "access",
    "damage",
    "delete",
  ),
  at: fc.nat(1000),
  owner: fc.constantFrom(...OWNERS),
  time: fc.nat(5),
  name,
  tags,
  metadata,
});
type AssetOperation = typeof operationArbitrary extends fc.Arbitrary<infer T> ? T : never;

const conditions = {
  include_tags: fc.uniqueArray(tag, { minLength: 1, maxLength: 2 }),
  exclude_tags: fc.uniqueArray(tag, { minLength: 1, maxLength: 2 }),
  name_contains: fc.tuple(name, fc.nat(5), fc.integer({ min: 1, max: 8 })).map(([from, start, length]) =>
    Array.from(from)
      .slice(start, start + length)
      .join(""),
  ),
  metadata_filter: fc
    .dictionary(
      fc.oneof(key, fc.constantFrom("a.v", "v.0", "v.b")),
      fc.oneof(scalar, fc.array(scalar, { maxLength: 8 }), fc.dictionary(fc.constantFrom("b", "0"), scalar, { maxKeys: 1 })),
      { minKeys: 1, maxKeys: 2 },
    )
    .map((filter) => writeExactJson(filter)),
};
const { include_tags, exclude_tags, name_contains, metadata_filter } = conditions;
const filter = fc.oneof(
  fc.record(conditions, { requiredKeys: [] }),
  fc.record({ metadata_filter }),
  fc.record({ name_contains, exclude_tags }),
  fc.record({ include_tags, name_contains }),
);
const searchArbitrary = fc.record({
  filter,
  include_public: fc.boolean(),
  sort: fc.constantFrom("name" as const, "created_at" as const, "updated_at" as const, "size" as const, "last_access_time" as const),
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.integer({ min: 1, max: 20 }),
  depth: fc.oneof(fc.constant(0), uniformFloat(0, 1.1)),
});
type SearchInput = typeof searchArbitrary extends fc.Arbitrary<infer T> ? T : never;

let assets: { id: string; owner: number }[];

async function createAsset(
  tx: Transaction,
  id: string,
  { owner, name: assetName, tags: assetTags, metadata: assetMetadata, time }: AssetOperation,
) {
  // Outputs share their content.
  const isUpload = time > 2;
  const size = 100 * (1 + (time % 3));
  const hash = isUpload ? id.replaceAll("-", "").padStart(64, "0") : String(size).padStart(64, "0");
  await tx.run(
    query
      .insertInto("blobs")
      .values({ hash, sha256: hash, size, media_type: "image/png", created_at: 1 })
      .onConflict((conflict) => conflict.doNothing()),
  );
  const asset = {
    id,
    ownerId: owner,
    origin: "output",
    content: { hash, size },
    name: assetName,
    tags: assetTags,
    metadata: assetMetadata,
  } as const;
  await insertAsset(tx, asset, now() + time);
}

async function applyOperation(tx: Transaction, { id, owner }: { id: string; owner: number }, item: AssetOperation) {
  if (item.kind === "create") return createAsset(tx, id, item);
  const asset = await findAsset(tx, id, [owner]);
  if (!asset) throw new Error("no asset to change");
  const at = now() + item.time;
  const updateAsset = (values: object) => tx.run(query.updateTable("assets").set(values).where("seq", "=", asset.seq));
  if (item.kind === "tag") return addTags(tx, asset.seq, item.tags, at);
  if (item.kind === "untag") return removeTags(tx, asset.seq, item.tags, at);
  if (item.kind === "rename") return editAsset(tx, asset, { name: item.name }, at);
  if (item.kind === "describe") return editAsset(tx, asset, { user_metadata: item.metadata }, at);
  if (item.kind === "damage") return updateAsset({ metadata: '{"v":1,' });
  if (item.kind === "access") return updateAsset({ last_access_time: at });
  return tx.run(query.deleteFrom("assets").where("seq", "=", asset.seq));
}

/** Applies all changes to both stores, in one commit each. */
async function applyAll(operations: readonly AssetOperation[]) {
  const changes = operations.flatMap((item) => {
    const target = item.kind === "create" ? { id: crypto.randomUUID(), owner: item.owner } : assets[item.at % Math.max(1, assets.length)];
    if (!target) return [];
    if (item.kind === "create") assets.push(target);
    if (item.kind === "delete") assets = assets.filter(({ id }) => id !== target.id);
    return [{ operation: item, target }];
  });
  const applyChanges = async (tx: Transaction) => {
    for (const { operation, target } of changes) await applyOperation(tx, target, operation);
  };
  await Promise.all([sqlite.commit(applyChanges), postgres.commit(applyChanges)]);
}

/** Returns ids, because row numbers differ between the databases. */
async function runSearch({ database, search }: AssetStore, { filter, include_public, depth, ...page }: SearchInput) {
  const parsedFilter = parseFilter({ include_public, ...filter });
  const offset = Math.floor(depth * assets.length);
  const { seqs, total } = await search.findPage(1, parsedFilter, include_public, { ...page, offset });
  const rows = await database.rows(
    query
      .selectFrom("assets")
      .select(["seq", "id"])
      .where("seq", "in", [0, ...seqs]),
  );
  const ids = new Map(rows.map(({ seq, id }) => [seq, id]));
  const counts = await search.countTags(1, parsedFilter, include_public);
  return { ids: seqs.map((seq) => ids.get(seq)), total, tags: [...counts].filter(([, n]) => n > 0).sort() };
}

/** Runs all other queries of assets. */
async function runOtherQueries(database: Database, assetName: string) {
  const getId = async (seq: number | undefined) =>
    seq === undefined ? undefined : (await database.row(query.selectFrom("assets").select("id").where("seq", "=", seq)))?.id;
  const listTagsBy = (order: "name_asc" | "count_desc", prefix: string) =>
    listTags(database, 1, { order, prefix, limit: 3, offset: 1, include_public: true, include_zero: false });
  return {
    named: await Promise.all(
      [assetName, `${assetName} [output]`, `folder/${assetName}`].map(async (value) => (await findAssetByName(database, 1, value))?.id),
    ),
    inputs: await listInputNames(database, 1),
    byHash: await Promise.all(
      ["100", "200", "300"].map(async (size) => getId(await findAssetSeqByHash(database, 1, size.padStart(64, "0")))),
    ),
    tags: [
      await listTagsBy("name_asc", ""),
      await listTagsBy("count_desc", ""),
      await listTagsBy("name_asc", "5"),
      await listTagsBy("name_asc", "鳥"),
    ],
    used: [await readUsedBytes(database, 1), await getRemainingQuota({ ...database, limits: { userQuotaBytes: 1000 } }, 1)],
  };
}

it("returns the same results in both stores after any change", async () => {
  let matchCount = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(operationArbitrary, { minLength: 30, maxLength: 50 }),
      fc.array(searchArbitrary, { minLength: 20, maxLength: 20 }),
      name,
      async (operations, searches, assetName) => {
        for (const database of [sqlite, postgres]) await database.commit((tx) => tx.run(query.deleteFrom("assets")));
        assets = [];
        await applyAll(operations);
        for (const filter of searches) {
          const expected = await runSearch(sqliteStore, filter);
          if (Object.keys(filter.filter).length > 0) matchCount += expected.ids.length;
          expect(await runSearch(postgresStore, filter)).toEqual(expected);
        }
        expect(await runOtherQueries(postgres, assetName)).toEqual(await runOtherQueries(sqlite, assetName));
      },
    ),
    { numRuns: 15, endOnFailure: true, seed: 20261123 },
  );
  expect(matchCount).toBeGreaterThan(100);
});

it("uses an index for name parts and metadata with many assets", async () => {
  const write = (text: string) => postgres.commit((tx) => tx.run(createStatement(text)));
  await write("delete from assets");
  await write("insert into blobs (hash, sha256, size, media_type, created_at) values ('h', 'h', 1, 'x', 1)");
  await write(`insert into assets (id, owner_id, origin, hash, name, name_folded, size, metadata, created_at, updated_at, last_access_time)
    select 'id-' || n, 1, 'output', 'h', n || ' name', n || ' name', 1, '{"n":' || n || '}', n, n, n from generate_series(1, 10000) as n`);
  // Moves new rows from the pending list to the index.
  for (const index of ["asset_search_names", "asset_search_metadata"]) await write(`select gin_clean_pending_list('${index}')`);
  await write("analyze assets");
  const plans: string[] = [];
  const explainReader: Reader = {
    ...postgres,
    async row(filter) {
      const { sql, parameters } = filter.compile();
      const plan = await postgres.rows({ compile: () => CompiledQuery.raw(`explain ${sql}`, [...parameters]) });
      plans.push(JSON.stringify(plan));
      return undefined;
    },
  };
  const page = { sort: "created_at", order: "desc", limit: 10, offset: 0 } as const;
  for (const filter of [{ name_contains: "4321" }, { metadata_filter: '{"n":4321}' }])
    await createPostgresSearch(explainReader).findPage(1, parseFilter({ include_public: true, ...filter }), true, page);
  expect(plans).toEqual([expect.stringContaining("asset_search_names"), expect.stringContaining("asset_search_metadata")]);
});
