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
import { asRecord, asRecords, asString, type Json } from "./support";

describe("GET /api/assets", async () => {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const service = await startService({ now: () => ++nowMs });
  const client = service.client();
  await client.upload("1", "100% sure.txt", { tags: "input,a", user_metadata: '{"n":1,"deep":{"kind":"x"},"on":true}' });
  await client.upload("22", "under_score.txt", { tags: "input,b", user_metadata: '{"n":"1","deep":{"kind":"y"},"on":"true"}' });
  await client.upload("333", "ÉTÉ.txt", { tags: "input,a,b", user_metadata: '{"n":2}' });
  await client.upload("4444", "plain.bin", { tags: "models", user_metadata: "{}" });

  const listNames = async (query: string) =>
    asRecords(asRecord((await client.get(`/api/assets?include_public=false&${query}`)).body).assets).map((asset) => asString(asset.name));

  it("lists own and public assets, newest first, with an exact total", async () => {
    expect((await client.get("/api/assets")).body).toMatchObject({ total: 6, has_more: false });
    expect((await client.get("/api/assets?limit=2")).body).toMatchObject({ total: 6, has_more: true });
    expect(await listNames("")).toEqual(["plain.bin", "ÉTÉ.txt", "under_score.txt", "100% sure.txt"]);
    expect(
      asRecords(asRecord((await client.get("/api/assets?sort=name&order=asc&limit=3&offset=3")).body).assets).map((asset) => asset.name),
    ).toEqual(["product.png", "under_score.txt", "ÉTÉ.txt"]);
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=501", "limit"],
    ["offset=-1", "offset"],
    ["sort=colour", "sort"],
    ["order=up", "order"],
    ["include_public=perhaps", "include_public"],
    ["metadata_filter=[]", "metadata_filter"],
    ["metadata_filter={", "metadata_filter"],
    [`metadata_filter=${encodeURIComponent('{"\\u0000":1}')}`, "metadata_filter"],
    [`metadata_filter=${encodeURIComponent('{"a":{"b\\u0000":[1]}}')}`, "metadata_filter"],
  ])("returns 400 for %s and names the parameter", async (query, field) => {
    const rejection = { status: 400, body: { code: "INVALID_QUERY", message: expect.stringContaining(field) } };
    expect(await client.get(`/api/assets?${query}`)).toMatchObject(rejection);
    if (field === "metadata_filter") expect(await client.get(`/api/assets/tags/refine?${query}`)).toMatchObject(rejection);
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
  const { assets } = asRecord((await client.get("/api/assets?include_public=false&limit=60")).body);
  for (const [index, asset] of asRecords(assets).entries()) {
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
        const json = asRecord((await client.get(`${toPath(query)}&sort=${sort}&order=${order}&limit=${limit}&offset=${offset}`)).body);
        const expectedIds = findExpectedIds(query, sort, order);
        expect(asRecords(json.assets).map((asset) => asString(asset.id))).toEqual(expectedIds.slice(offset, offset + limit));
        expect({ total: json.total, has_more: json.has_more }).toEqual({
          total: expectedIds.length,
          has_more: offset + limit < expectedIds.length,
        });
      }),
      { numRuns: 500, seed: 20261121 },
    );
  });

  it("counts tags for any filter", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const { tag_counts } = asRecord((await client.get(`${toPath(query, "/api/assets/tags/refine")}&limit=1000`)).body);
        const counts: Record<string, number> = {};
        for (const value of rows.filter((asset) => matches(asset, query)).flatMap((asset) => asset.tags))
          counts[value] = (counts[value] ?? 0) + 1;
        expect(tag_counts).toEqual(counts);
      }),
      { numRuns: 200, seed: 5 },
    );
  });

  it("counts used tags, and unused tags with 0 only on request", async () => {
    await client.upload("once", "once.txt", { tags: "temporary" });
    const { assets } = asRecord((await client.get("/api/assets?include_tags=temporary")).body);
    await client.call("DELETE", `/api/assets/${asString(asRecords(assets)[0]?.id)}`);
    const getTags = async (query: string) =>
      Object.fromEntries(
        asRecords(asRecord((await client.get(`/api/tags?limit=1000&${query}`)).body).tags).map((json) => [json.name, json.count]),
      );
    const counts: Record<string, number> = {};
    for (const value of rows.flatMap((asset) => asset.tags)) counts[value] = (counts[value] ?? 0) + 1;
    expect(await getTags("")).toEqual(counts);
    expect(await getTags("include_zero=true")).toMatchObject({ ...counts, temporary: 0 });
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

  it("is readable during the write", async () => {
    const times = createAccessTimes(database, () => 4e12);
    times.touch(await readRow(1));
    const before = await readRow(1);
    const flush = times.flush();
    expect(times.withLatestAccessTime(before).last_access_time).toBe(4e12);
    await flush;
    expect((await readRow(1)).last_access_time).toBe(4e12);
  });

  it("is applied to a row that was read before the write", async () => {
    const times = createAccessTimes(database, () => 4.5e12);
    const before = await readRow(3);
    times.touch(before);
    await times.flush();
    expect(times.withLatestAccessTime(before).last_access_time).toBe(4.5e12);
  });

  it("is stored when a second flush waits for the first", async () => {
    const times = createAccessTimes(database, () => 5e12);
    times.touch(await readRow(2));
    void times.flush();
    await times.flush();
    expect((await readRow(2)).last_access_time).toBe(5e12);
  });
});
