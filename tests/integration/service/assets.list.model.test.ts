// Hundreds of assets, and every query answered twice: by the service with its search index, and by going through all of them here.
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { KINDS, PLACES, seedAssets, WORDS } from "@/tests/bench/service/seed-assets";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { type Json, list, record, string } from "./support";

const ASSETS = 400;
const sorts = ["created_at", "updated_at", "name", "size", "last_access_time"] as const;
type Shown = {
  id: string;
  name: string;
  tags: string[];
  metadata: Json;
  sortBy: Record<(typeof sorts)[number], string | number>;
  isPublic: boolean;
};
type Query = { include?: string[]; exclude?: string[]; name?: string; node?: (string | number)[]; width?: number; isPublic: boolean };

function matches(asset: Shown, { include = [], exclude = [], name = "", node, width, isPublic }: Query): boolean {
  return (
    (isPublic || !asset.isPublic) &&
    include.every((tag) => asset.tags.includes(tag)) &&
    !exclude.some((tag) => asset.tags.includes(tag)) &&
    asset.name.toLowerCase().includes(name.toLowerCase()) &&
    (node === undefined || node.some((one) => one === asset.metadata.node_id)) &&
    (width === undefined || asset.metadata.width === width)
  );
}

const tag = fc.constantFrom(...KINDS, ...PLACES, "input", "none-such");
const queries = fc.record(
  {
    include: fc.uniqueArray(tag, { minLength: 1, maxLength: 3 }),
    exclude: fc.uniqueArray(tag, { minLength: 1, maxLength: 3 }),
    // Pieces of one to eight letters, some across the space between two words.
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

describe("the list of assets against a look at every one", () => {
  let bench: ServiceBench;
  let client: Client;
  let shown: Shown[];
  beforeAll(async () => {
    const empty = await startService();
    empty.client("bench");
    await empty.service.stop();
    const file = join(empty.folder, "service.sqlite");
    seedAssets(file, "bench", ASSETS);
    bench = await startService({ dataDir: empty.folder });
    client = bench.client("bench");
    // Some assets are removed and some changed: the index must forget their former state.
    const { assets } = record((await client.get("/api/assets?include_public=false&limit=60")).body);
    for (const [at, asset] of list(assets).entries()) {
      const path = `/api/assets/${string(asset.id)}`;
      if (at % 3 === 0) await client.call("DELETE", path);
      if (at % 3 === 1)
        await client.call("PUT", path, { name: `renamed ${at}.png`, tags: ["kind-1", "place-1"], user_metadata: { width: 300 } });
      if (at % 3 === 2) await client.call("DELETE", `${path}/tags`, { tags: KINDS });
    }
    const database = new SqliteConnection(file, { readOnly: true });
    const tags = database.prepare<[number], string>("SELECT tag FROM asset_tags WHERE asset_seq = ?").pluck();
    shown = database
      .prepare<[], Record<string, string | number>>("SELECT * FROM assets")
      .all()
      .map((row) => ({
        id: String(row.id),
        name: String(row.name),
        tags: tags.all(Number(row.seq)),
        metadata: record(JSON.parse(String(row.metadata))),
        sortBy: {
          ...{ created_at: Number(row.created_at), updated_at: Number(row.updated_at), last_access_time: Number(row.last_access_time) },
          ...{ size: Number(row.size), name: String(row.name).toLowerCase() },
        },
        isPublic: row.owner_id === 0,
      }));
    database.close();
  });
  afterAll(() => bench.dispose());

  function expected(query: Query, sort: (typeof sorts)[number], order: string): string[] {
    const sign = order === "asc" ? 1 : -1;
    const compare = (a: string | number, b: string | number) => (a === b ? 0 : a < b ? -1 : 1);
    return shown
      .filter((asset) => matches(asset, query))
      .sort((a, b) => sign * (compare(a.sortBy[sort], b.sortBy[sort]) || compare(a.id, b.id)))
      .map((asset) => asset.id);
  }

  it("answers any filter in any order at any offset, with the exact total and has_more", async () => {
    const page = fc.record({
      query: queries,
      sort: fc.constantFrom(...sorts),
      order: fc.constantFrom("asc", "desc"),
      limit: fc.integer({ min: 1, max: 60 }),
      offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: ASSETS })),
    });
    await fc.assert(
      fc.asyncProperty(page, async ({ query, sort, order, limit, offset }) => {
        const answer = record((await client.get(`${toPath(query)}&sort=${sort}&order=${order}&limit=${limit}&offset=${offset}`)).body);
        const all = expected(query, sort, order);
        expect(list(answer.assets).map((asset) => string(asset.id))).toEqual(all.slice(offset, offset + limit));
        expect({ total: answer.total, has_more: answer.has_more }).toEqual({ total: all.length, has_more: offset + limit < all.length });
      }),
      { numRuns: 500, seed: 20261121 },
    );
  });

  it("counts the tags beside any filter", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const { tag_counts } = record((await client.get(`${toPath(query, "/api/assets/tags/refine")}&limit=1000`)).body);
        const counts: Record<string, number> = {};
        for (const one of shown.filter((asset) => matches(asset, query)).flatMap((asset) => asset.tags))
          counts[one] = (counts[one] ?? 0) + 1;
        expect(tag_counts).toEqual(counts);
      }),
      { numRuns: 200, seed: 5 },
    );
  });

  it("counts every tag as often as it is carried, and a dropped one with 0 only where it is asked for", async () => {
    await client.upload("once", "once.txt", { tags: "fleeting" });
    const { assets } = record((await client.get("/api/assets?include_tags=fleeting")).body);
    await client.call("DELETE", `/api/assets/${string(list(assets)[0]?.id)}`);
    const tagsOf = async (query: string) =>
      Object.fromEntries(list(record((await client.get(`/api/tags?limit=1000&${query}`)).body).tags).map((one) => [one.name, one.count]));
    const counts: Record<string, number> = {};
    for (const one of shown.flatMap((asset) => asset.tags)) counts[one] = (counts[one] ?? 0) + 1;
    expect(await tagsOf("")).toEqual(counts);
    expect(await tagsOf("include_zero=true")).toMatchObject({ ...counts, fleeting: 0 });
  });
});
