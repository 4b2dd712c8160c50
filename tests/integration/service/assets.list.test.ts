import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createAccessTimes } from "@/lib/service/assets/access-times";
import { readAssets, type StoredAsset } from "@/lib/service/assets/asset-view";
import { openDatabase } from "@/lib/service/store/sqlite";
import { createKeys } from "@/lib/service/users/keys";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { KINDS, PLACES, seedAssets, WORDS } from "@/tests/bench/service/seed-assets";
import { startService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, asString, getRecord, type Json, listAssets } from "./support";

describe("GET /api/assets", async () => {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const service = await startService({ now: () => ++nowMs });
  const client = service.client();
  const uploadedNames = ["100% sure.txt", "under_score.txt", "ÉTÉ.txt", "plain.bin"];
  for (const name of uploadedNames) await client.upload(name, name, { tags: "input" });

  it("lists own and public assets, newest first, with an exact total", async () => {
    expect((await client.get("/api/assets")).body).toMatchObject({ total: 6, has_more: false });
    expect((await client.get("/api/assets?limit=2")).body).toMatchObject({ total: 6, has_more: true });
    const listNames = async (query?: string) => (await listAssets(client, query)).map(({ name }) => name);
    expect(await listNames()).toEqual(uploadedNames.toReversed());
    expect(await listNames("sort=name&order=asc&limit=3&offset=3")).toEqual(["product.png", "under_score.txt", "ÉTÉ.txt"]);
  });

  it.each(["{", '{"\\u0000":1}', '{"a":{"b\\u0000":[1]}}'])("returns 400 for the metadata filter %s", async (filter) => {
    const rejection = { status: 400, body: { code: "INVALID_QUERY", message: expect.stringContaining("metadata_filter") } };
    for (const path of ["/api/assets", "/api/assets/tags/refine"])
      expect(await client.get(`${path}?metadata_filter=${encodeURIComponent(filter)}`)).toMatchObject(rejection);
  });
});

const ASSET_COUNT = 400;
const sortFields = ["created_at", "updated_at", "name", "size", "last_access_time"] as const;
type ListedAsset = {
  id: string;
  name: string;
  tags: string[];
  metadata: Json;
  sortBy: Record<(typeof sortFields)[number], string | number>;
  isPublic: boolean;
};
type Query = { include?: string[]; exclude?: string[]; name?: string; node?: (string | number)[]; width?: number; isPublic: boolean };

function matches(asset: ListedAsset, { include = [], exclude = [], name = "", node, width, isPublic }: Query): boolean {
  return (
    (isPublic || !asset.isPublic) &&
    include.every((tag) => asset.tags.includes(tag)) &&
    !exclude.some((tag) => asset.tags.includes(tag)) &&
    asset.name.toLowerCase().includes(name.toLowerCase()) &&
    (node === undefined || node.some((item) => item === asset.metadata.node_id)) &&
    (width === undefined || asset.metadata.width === width)
  );
}

function countTags(assets: readonly { tags: readonly string[] }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of assets.flatMap(({ tags }) => tags)) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const tag = fc.constantFrom(...KINDS, ...PLACES, "input", "unused-tag");
const queries = fc.record(
  {
    include: fc.uniqueArray(tag, { minLength: 1, maxLength: 3 }),
    exclude: fc.uniqueArray(tag, { minLength: 1, maxLength: 3 }),
    // Substrings of one to eight letters, some spanning two words.
    name: fc
      .record({
        words: fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS)),
        from: fc.nat(7),
        length: fc.integer({ min: 1, max: 8 }),
      })
      .map(({ words, from, length }) =>
        words
          .join(" ")
          .toUpperCase()
          .slice(from, from + length),
      ),
    node: fc.array(fc.oneof(fc.nat(30).map(String), fc.nat(30)), { maxLength: 4 }),
    width: fc.constantFrom(256, 512, 1024, 300),
    isPublic: fc.boolean(),
  },
  { requiredKeys: ["isPublic"] },
);

function toPath(query: Query, path = "/api/assets"): string {
  const { include, exclude, name, node, width, isPublic } = query;
  const metadata = { ...(node && { node_id: node }), ...(width !== undefined && { width }) };
  const parameters = {
    ...(include && { include_tags: include.join(",") }),
    ...(exclude && { exclude_tags: exclude.join(",") }),
    ...(name !== undefined && { name_contains: name }),
    ...((node || width !== undefined) && { metadata_filter: JSON.stringify(metadata) }),
    include_public: String(isPublic),
  };
  return `${path}?${new URLSearchParams(parameters).toString()}`;
}

describe("asset list compared with a full scan", async () => {
  const emptyService = await startService();
  emptyService.client("bench");
  await emptyService.service.stop();
  const file = join(emptyService.folder, "service.sqlite");
  seedAssets(file, "bench", ASSET_COUNT);
  const service = await startService({ dataDir: emptyService.folder });
  const client = service.client("bench");
  // Some assets are deleted and some changed, so the index must drop their old state.
  for (const [index, asset] of (await listAssets(client, "include_public=false&limit=60")).entries()) {
    const path = `/api/assets/${asString(asset.id)}`;
    if (index % 3 === 0) await client.call("DELETE", path);
    if (index % 3 === 1)
      await client.call("PUT", path, { name: `renamed ${index}.png`, tags: ["kind-1", "place-1"], user_metadata: { width: 300 } });
    if (index % 3 === 2) await client.call("DELETE", `${path}/tags`, { tags: KINDS });
  }
  const database = new SqliteConnection(file, { readOnly: true });
  const tags = database.prepare<[number], string>("SELECT tag FROM asset_tags WHERE asset_seq = ?").pluck();
  const rows = database
    .prepare<[], Record<string, string | number>>("SELECT * FROM assets")
    .all()
    .map((row) => ({
      id: String(row.id),
      name: String(row.name),
      tags: tags.all(Number(row.seq)),
      metadata: asRecord(JSON.parse(String(row.metadata))),
      sortBy: {
        ...{ created_at: Number(row.created_at), updated_at: Number(row.updated_at), last_access_time: Number(row.last_access_time) },
        ...{ size: Number(row.size), name: String(row.name).toLowerCase() },
      },
      isPublic: row.owner_id === 0,
    }));
  database.close();

  function findExpectedIds(query: Query, sort: (typeof sortFields)[number], order: string): string[] {
    const sign = order === "asc" ? 1 : -1;
    const compare = (a: string | number, b: string | number) => (a === b ? 0 : a < b ? -1 : 1);
    return rows
      .filter((asset) => matches(asset, query))
      .sort((a, b) => sign * (compare(a.sortBy[sort], b.sortBy[sort]) || compare(a.id, b.id)))
      .map((asset) => asset.id);
  }

  it("returns the exact total and has_more for any filter, order and offset", async () => {
    const page = fc.record({
      query: queries,
      sort: fc.constantFrom(...sortFields),
      order: fc.constantFrom("asc", "desc"),
      limit: fc.integer({ min: 1, max: 60 }),
      offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: ASSET_COUNT })),
    });
    await fc.assert(
      fc.asyncProperty(page, async ({ query, sort, order, limit, offset }) => {
        const json = await getRecord(client, `${toPath(query)}&sort=${sort}&order=${order}&limit=${limit}&offset=${offset}`);
        const expectedIds = findExpectedIds(query, sort, order);
        expect(asRecords(json.assets).map((asset) => asString(asset.id))).toEqual(expectedIds.slice(offset, offset + limit));
        expect({ total: json.total, has_more: json.has_more }).toEqual({
          total: expectedIds.length,
          has_more: offset + limit < expectedIds.length,
        });
      }),
      { numRuns: 250, seed: 20261121 },
    );
  });

  it("counts tags for any filter", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const { tag_counts } = await getRecord(client, `${toPath(query, "/api/assets/tags/refine")}&limit=1000`);
        expect(tag_counts).toEqual(countTags(rows.filter((asset) => matches(asset, query))));
      }),
      { numRuns: 80, seed: 5 },
    );
  });

  it("counts used tags, and unused tags with 0 only on request", async () => {
    await client.upload("once", "once.txt", { tags: "temporary" });
    const [asset] = await listAssets(client, "include_tags=temporary");
    await client.call("DELETE", `/api/assets/${asString(asset?.id)}`);
    const getTags = async (query: string) => {
      const { tags } = await getRecord(client, `/api/tags?limit=1000&${query}`);
      return Object.fromEntries(asRecords(tags).map(({ name, count }) => [name, count]));
    };
    expect(await getTags("")).toEqual(countTags(rows));
    expect(await getTags("include_zero=true")).toMatchObject({ ...countTags(rows), temporary: 0 });
  });
});

describe("an asset's last access time", async () => {
  const file = join(createTemporaryFolder(), "service.sqlite");
  const emptyDatabase = await openDatabase(file, Date.now);
  await createKeys(emptyDatabase, Date.now).createKey("ada");
  await emptyDatabase.close();
  seedAssets(file, "ada", 3);
  const database = await openDatabase(file, Date.now);
  afterAll(() => database.close());

  async function readRow(seq: number): Promise<StoredAsset> {
    const [asset] = await readAssets(database, [seq]);
    if (!asset) throw new Error(`Asset ${seq} is missing.`);
    return asset;
  }

  it("is readable during the write and applied to a row read before it", async () => {
    const times = createAccessTimes(database, () => 4e12);
    times.touch(await readRow(1));
    const before = await readRow(1);
    const flush = times.flush();
    expect(times.withLatestAccessTime(before).last_access_time).toBe(4e12);
    await flush;
    expect(times.withLatestAccessTime(before).last_access_time).toBe(4e12);
    expect((await readRow(1)).last_access_time).toBe(4e12);
  });

  it("is stored when a second flush waits for the first", async () => {
    const times = createAccessTimes(database, () => 5e12);
    times.touch(await readRow(2));
    void times.flush();
    await times.flush();
    expect((await readRow(2)).last_access_time).toBe(5e12);
  });
});
