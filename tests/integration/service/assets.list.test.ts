import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { list, record, string } from "./support";

describe("GET /api/assets", () => {
  let bench: ServiceBench;
  let client: Client;
  let at = Date.parse("2026-01-01T00:00:00Z");
  beforeAll(async () => {
    bench = await startService({ now: () => ++at });
    client = bench.client();
    await client.upload("1", "100% sure.txt", { tags: "input,a", user_metadata: '{"n":1,"deep":{"kind":"x"},"on":true}' });
    await client.upload("22", "under_score.txt", { tags: "input,b", user_metadata: '{"n":"1","deep":{"kind":"y"},"on":"true"}' });
    await client.upload("333", "ÉTÉ.txt", { tags: "input,a,b", user_metadata: '{"n":2}' });
    await client.upload("4444", "plain.bin", { tags: "models", user_metadata: "{}" });
  });
  afterAll(() => bench.dispose());

  const names = async (query: string) =>
    list(record((await client.get(`/api/assets?include_public=false&${query}`)).body).assets).map((asset) => string(asset.name));
  const metadata = (filter: unknown) => names(`order=asc&metadata_filter=${encodeURIComponent(JSON.stringify(filter))}`);

  it("lists own and public ones, newest first, and counts exactly", async () => {
    expect((await client.get("/api/assets")).body).toMatchObject({ total: 6, has_more: false });
    expect((await client.get("/api/assets?limit=2")).body).toMatchObject({ total: 6, has_more: true });
    expect(await names("")).toEqual(["plain.bin", "ÉTÉ.txt", "under_score.txt", "100% sure.txt"]);
    expect(
      list(record((await client.get("/api/assets?sort=name&order=asc&limit=3&offset=3")).body).assets).map((asset) => asset.name),
    ).toEqual(["product.png", "under_score.txt", "ÉTÉ.txt"]);
  });

  it("sorts by every field", async () => {
    expect(await names("sort=size&order=asc&limit=2")).toEqual(["100% sure.txt", "under_score.txt"]);
    expect((await names("sort=name&order=desc"))[0]).toBe("ÉTÉ.txt");
    const [oldest] = list(record((await client.get("/api/assets?include_public=false&order=asc")).body).assets);
    expect((await client.raw("GET", `/api/assets/${string(oldest?.id)}/content`)).status).toBe(200);
    expect((await names("sort=last_access_time"))[0]).toBe("100% sure.txt");
    await client.post(`/api/assets/${string(oldest?.id)}/tags`, { tags: ["touched"] });
    expect((await names("sort=updated_at"))[0]).toBe("100% sure.txt");
  });

  it("wants all of some tags and none of others", async () => {
    expect(await names("include_tags=a,b")).toEqual(["ÉTÉ.txt"]);
    expect(await names("include_tags=input&exclude_tags=b")).toEqual(["100% sure.txt"]);
    expect(await names("exclude_tags=input,models")).toEqual([]);
    expect((await client.get("/api/assets?include_tags=a&include_public=false")).body).toMatchObject({ total: 2 });
  });

  it("takes % and _ for letters and folds case beyond ASCII", async () => {
    expect(await names("name_contains=%25")).toEqual(["100% sure.txt"]);
    expect(await names("name_contains=_")).toEqual(["under_score.txt"]);
    expect(await names(`name_contains=${encodeURIComponent("été")}`)).toEqual(["ÉTÉ.txt"]);
  });

  it("filters by metadata: nested, by type, any of a list, all conditions", async () => {
    expect(await metadata({ n: 1 })).toEqual(["100% sure.txt"]);
    expect(await metadata({ n: "1" })).toEqual(["under_score.txt"]);
    expect(await metadata({ n: [1, 2] })).toEqual(["100% sure.txt", "ÉTÉ.txt"]);
    expect(await metadata({ deep: { kind: "y" } })).toEqual(["under_score.txt"]);
    expect(await metadata({ "deep.kind": "x", on: true })).toEqual(["100% sure.txt"]);
    expect(await metadata({ on: "true" })).toEqual(["under_score.txt"]);
    expect(await metadata({ n: 1, on: false })).toEqual([]);
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
  ])("answers 400 to %s and names the parameter", async (query, field) => {
    const refused = { status: 400, body: { code: "INVALID_QUERY", message: expect.stringContaining(field) } };
    expect(await client.get(`/api/assets?${query}`)).toMatchObject(refused);
    if (field === "metadata_filter") expect(await client.get(`/api/assets/tags/refine?${query}`)).toMatchObject(refused);
  });

  it("changes tags and says what changed", async () => {
    const [asset] = list(record((await client.get("/api/assets?name_contains=plain.bin")).body).assets);
    const path = `/api/assets/${string(asset?.id)}/tags`;
    expect((await client.post(path, { tags: ["models", "new", "new"] })).body).toMatchObject({
      total_tags: ["models", "new"],
      added: ["new"],
      already_present: ["models"],
    });
    expect((await client.call("DELETE", path, { tags: ["new", "never"] })).body).toMatchObject({
      total_tags: ["models"],
      removed: ["new"],
      not_present: ["never"],
    });
    expect(await client.post(path, { tags: [] })).toMatchObject({ status: 400, body: { message: expect.stringContaining("tags") } });
    expect((await client.get("/api/tags?prefix=in&include_public=false")).body).toEqual({
      tags: [{ name: "input", count: 3 }],
      total: 1,
      has_more: false,
    });
    expect((await client.get("/api/assets/tags/refine?include_tags=a&include_public=false")).body).toMatchObject({
      tag_counts: { a: 2, input: 2, b: 1 },
    });
  });

  it("edits names, tags and metadata, and needs at least one of them", async () => {
    const [asset] = list(record((await client.get("/api/assets?name_contains=plain.bin")).body).assets);
    const path = `/api/assets/${string(asset?.id)}`;
    expect(await client.call("PUT", path, { name: "Renamed.bin", tags: ["x"], user_metadata: { a: 1 } })).toMatchObject({
      status: 200,
      body: { id: asset?.id, name: "Renamed.bin", tags: ["x"] },
    });
    expect((await client.get(path)).body).toMatchObject({ name: "Renamed.bin", tags: ["x"], user_metadata: { a: 1 } });
    expect(await client.call("PUT", path, {})).toMatchObject({ status: 400 });
    expect(await bench.client("eve").call("PUT", path, { name: "x" })).toMatchObject({ status: 404 });
  });
});
