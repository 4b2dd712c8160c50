import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { startService } from "@/tests/support/service";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, asString, canvas, submit, waitForEnd } from "./support";

describe("searching assets", async () => {
  const service = await startService();
  const client = service.client();

  let content = 0;
  const make = (name: string, fields: Record<string, string> = {}) => client.upload(`content ${content++}`, name, { name, ...fields });
  const names = async (query: Record<string, string>, who = client) => {
    const { assets, total } = asRecord(
      (await who.get(`/api/assets?${new URLSearchParams({ include_public: "false", ...query }).toString()}`)).body,
    );
    const assetNames = asRecords(assets).map((asset) => asString(asset.name));
    expect(assetNames.length).toBe(total);
    return assetNames.sort();
  };
  const refuses = async (filter: string) =>
    expect(await client.get(`/api/assets?metadata_filter=${encodeURIComponent(filter)}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_QUERY", message: expect.stringContaining("metadata_filter") },
    });

  it("takes quotes, wild cards and the words of a search language for letters", async () => {
    const oddTexts = [
      'say "so" AND (no*)',
      "50%_off - name:x",
      "NEAR(a b)^2 + {marks}",
      "it's; DROP TABLE --",
      "a\\b/c",
      "NOT OR",
      "🐈‍⬛ cat 🐈.png",
    ];
    for (const name of oddTexts) await make(name);
    for (const name of oddTexts) {
      for (let from = 0; from < name.length; from += 3) {
        const piece = Array.from(name)
          .slice(from, from + 5)
          .join("");
        const holding = oddTexts.filter((value) => value.toLowerCase().includes(piece.toLowerCase())).sort();
        expect(await names({ name_contains: piece })).toEqual(holding);
      }
    }
    expect(await names({ name_contains: '"' })).toEqual(['say "so" AND (no*)']);
    expect(await names({ name_contains: "🐈" })).toEqual(["🐈‍⬛ cat 🐈.png"]);
    expect(await names({ name_contains: "%%%" })).toEqual([]);
    expect(await names({ name_contains: "***" })).toEqual([]);
  });

  it("finds one and two letters anywhere, including tags and metadata", async () => {
    const fields = { tags: '["short"]', user_metadata: '{"of":"short names"}' };
    for (const name of ["qx", "q", "aqx", "x q", "xq.Q", "🦊q"]) await make(name, fields);
    const search = async (piece: string) => names({ name_contains: piece, include_tags: "short", metadata_filter: '{"of":"short names"}' });
    expect(await search("q")).toEqual(["aqx", "q", "qx", "x q", "xq.Q", "🦊q"]);
    expect(await search("QX")).toEqual(["aqx", "qx"]);
    expect(await search(" q")).toEqual(["x q"]);
    expect(await search(".q")).toEqual(["xq.Q"]);
    expect(await search("🦊")).toEqual(["🦊q"]);
    expect(await search("xx")).toEqual([]);
    expect(await names({ name_contains: "qx" })).toEqual(["aqx", "qx"]);
  });

  it.each([
    ["Straße.png", ["STRASSE", "strasse", "ß", "ẞ", "raße.p", "SS"], ["Strase"]],
    ["ΟΔΟΣ ΑΒΓ.png", ["οδος", "οδοσ", "ΔΟΣ Α", "ς"], ["οδα"]],
    ["İZMİR.png", ["İZMİR", "i̇zm"], ["ızm"]],
    ["Re\u0301sume\u0301.png", ["résumé", "RÉSUMÉ", "RE\u0301S"], ["resume"]],
    ["ПрИвЕт.png", ["привет", "ИВЕ"], ["privet"]],
  ])("finds %s by any spelling of its case, accents kept", async (name, expected, absentNames) => {
    const assetName = asString(asRecord((await make(name)).body).name);
    for (const piece of expected) expect(await names({ name_contains: piece })).toContain(assetName);
    for (const piece of absentNames) expect(await names({ name_contains: piece })).not.toContain(assetName);
  });

  it("reflects a new name and a deletion immediately", async () => {
    const id = asString(asRecord((await make("before-the-change.txt")).body).id);
    await client.call("PUT", `/api/assets/${id}`, { name: "after-the-change.txt" });
    expect(await names({ name_contains: "before-the" })).toEqual([]);
    expect(await names({ name_contains: "after-the" })).toEqual(["after-the-change.txt"]);
    await client.call("DELETE", `/api/assets/${id}`);
    expect(await names({ name_contains: "after-the" })).toEqual([]);
  });

  it("sorts names ignoring case, ties by id", async () => {
    for (const name of ["b-sorted", "A-sorted", "C-sorted", "a-sorted", "B-sorted"]) await make(name);
    const sorted = async (order: string) =>
      asRecords(asRecord((await client.get(`/api/assets?name_contains=-sorted&sort=name&order=${order}`)).body).assets).map((asset) => ({
        name: asString(asset.name).toLowerCase(),
        id: asString(asset.id),
      }));
    const up = await sorted("asc");
    expect(up.map((asset) => asset.name)).toEqual(["a-sorted", "a-sorted", "b-sorted", "b-sorted", "c-sorted"]);
    expect(up[0]?.id.localeCompare(up[1]?.id ?? "")).toBe(-1);
    expect(await sorted("desc")).toEqual(up.reverse());
  });

  it("lists a job's simultaneous outputs in output order", async () => {
    const graph = canvas(7);
    const id = await submit(client, {
      ...graph,
      "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 5, color: 7 } },
    });
    await waitForEnd(client, id);
    const outputs = asRecords(asRecord((await client.get(`/api/jobs/${id}/assets`)).body).assets).map((asset) => asset.id);
    const assets = asRecords(asRecord((await client.get("/api/assets?include_tags=output&order=asc&include_public=false")).body).assets);
    expect(assets.filter((asset) => asset.prompt_id === id).map((asset) => asset.id)).toEqual(outputs);
    expect(outputs).toHaveLength(5);
  });

  it("distinguishes numbers, texts, booleans and null in metadata and lists", async () => {
    const kinds = { one: 1, real: 1.5, text: "1", yes: true, word: "true", none: null, list: ["x", 2, { deep: 1 }], object: { x: 1 } };
    for (const [name, value] of Object.entries(kinds)) await make(`metadata ${name}`, { user_metadata: JSON.stringify({ v: value }) });
    const search = async (filter: unknown) =>
      (await names({ name_contains: "metadata ", metadata_filter: JSON.stringify(filter) })).map((name) => name.slice("metadata ".length));
    expect(await search({ v: 1 })).toEqual(["one"]);
    expect(await search({ v: 1.0 })).toEqual(["one"]);
    expect(await search({ v: 1.5 })).toEqual(["real"]);
    expect(await search({ v: "1" })).toEqual(["text"]);
    expect(await search({ v: true })).toEqual(["yes"]);
    expect(await search({ v: "true" })).toEqual(["word"]);
    expect(await search({ v: null })).toEqual(["none"]);
    expect(await search({ v: "x" })).toEqual(["list"]);
    expect(await search({ v: [2, "1", false] })).toEqual(["list", "text"]);
    expect(await search({ v: { x: 1 } })).toEqual(["object"]);
    expect(await search({ "v.x": 1 })).toEqual(["object"]);
    expect(await search({ v: { deep: 1 } })).toEqual([]);
    expect(await search({ v: [] })).toEqual([]);
    expect(await search({ v: 1, w: 1 })).toEqual([]);
    await refuses('{"v":[{"x":1}]}');
    await refuses('{"a\\"b":1}');
  });

  it("finds the last of more metadata values than the index keeps", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`key${index}`, index]));
    await make("very much metadata", { user_metadata: JSON.stringify(metadata) });
    await make("little metadata", { user_metadata: '{"key699":699}' });
    expect(await names({ metadata_filter: '{"key699":699}' })).toEqual(["little metadata", "very much metadata"]);
    expect(await names({ metadata_filter: '{"key699":700}' })).toEqual([]);
    const { tag_counts } = asRecord((await client.get(`/api/assets/tags/refine?metadata_filter=${encodeURIComponent('{"key5":6}')}`)).body);
    expect(tag_counts).toEqual({});
  });

  it("distinguishes long metadata values that differ only at the end", async () => {
    const [first, second] = [`${"same ".repeat(100)}one`, `${"same ".repeat(100)}other`];
    await make("long one", { user_metadata: JSON.stringify({ prompt: first, others: [second] }) });
    await make("long other", { user_metadata: JSON.stringify({ prompt: second }) });
    expect(await names({ metadata_filter: JSON.stringify({ prompt: first }) })).toEqual(["long one"]);
    expect(await names({ metadata_filter: JSON.stringify({ prompt: [second, first] }) })).toEqual(["long one", "long other"]);
    expect(await names({ metadata_filter: JSON.stringify({ prompt: `${first} ` }) })).toEqual([]);
  });

  it("counts an asset once when its list contains several requested values", async () => {
    await make("listed", { user_metadata: '{"colours":["red","green","red"]}' });
    expect(await names({ metadata_filter: '{"colours":["red","green"]}' })).toEqual(["listed"]);
  });

  it.each([4000, 4096, 2 ** 24])("distinguishes tags created after %d others", async (others) => {
    await service.rows(
      `INSERT INTO tag_counts (id, owner_id, tag, n) SELECT max(id) + ${others}, 0, 'others-${others}', 0 FROM tag_counts`,
    );
    const tags = ["x", "y", "z"].map((tag) => `${tag}-${others}`);
    for (const [at, tag] of tags.entries()) await make(`${tag}.txt`, { tags: JSON.stringify([tag, ...tags.slice(0, at)]) });
    expect(await names({ include_tags: tags.join(",") })).toEqual([`z-${others}.txt`]);
    expect(await names({ include_tags: `x-${others}`, exclude_tags: `z-${others}` })).toEqual([`x-${others}.txt`, `y-${others}.txt`]);
    expect(await names({ include_tags: `x-${others}`, exclude_tags: "none-such" })).toHaveLength(3);
  });

  it("finds nothing when the name filter is a NUL", async () => {
    await make("abc.nul");
    expect(await names({ name_contains: "abc\0" })).toEqual([]);
    expect(await names({ name_contains: "\0abc" })).toEqual([]);
  });

  it("finds the others where one asset's metadata is damaged", async () => {
    await make("whole a.txt", { user_metadata: '{"damage":1}' });
    await make("whole b.txt", { user_metadata: '{"damage":1}' });
    await make("broken c.txt", { user_metadata: '{"damage":1}' });
    await service.rows("UPDATE assets SET metadata = '{damaged' WHERE name = 'broken c.txt'");
    const additions: Record<string, string>[] = [{}, { limit: "1" }, { name_contains: "le" }];
    for (const extra of additions) {
      const { assets, total } = asRecord(
        (await client.get(`/api/assets?${new URLSearchParams({ metadata_filter: '{"damage":1}', ...extra }).toString()}`)).body,
      );
      expect([total, asRecords(assets).length]).toEqual([2, "limit" in extra ? 1 : 2]);
    }
  });

  it("hides other users' assets", async () => {
    await make("ada's secret plan.txt", { tags: "secret", user_metadata: '{"k":"v"}' });
    const eve = service.client("eve");
    expect(await names({ name_contains: "secret plan" }, eve)).toEqual([]);
    expect(await names({ include_tags: "secret" }, eve)).toEqual([]);
    expect(await names({ metadata_filter: '{"k":"v"}' }, eve)).toEqual([]);
    expect((await eve.get("/api/tags?prefix=secret")).body).toEqual({ tags: [], total: 0, has_more: false });
    expect((await eve.get("/api/assets/tags/refine?include_tags=secret")).body).toEqual({ tag_counts: {} });
  });
});

it("finds assets after replacing an older search index", async () => {
  const folder = temporaryFolder();
  const database = new SqliteConnection(join(folder, "service.sqlite"));
  database.exec(readFileSync("tests/fixtures/schemas/service-sqlite.sql", "utf8"));
  database.exec(`
    INSERT INTO users (id, name, status, created_at) VALUES (1, 'ada', 'active', 0);
    INSERT INTO blobs VALUES ('00', '00', 1, 'text/plain', 0);
    INSERT INTO assets (seq, id, owner_id, origin, hash, name, name_folded, size, metadata, created_at, updated_at, last_access_time)
      VALUES (1, 'x', 1, 'upload', '00', 'Straße.txt', 'strasse.txt', 1, '{"n":1}', 0, 0, 0);
    INSERT INTO asset_tags (asset_seq, tag, position) VALUES (1, 'kept', 1), (1, 'b', 2);`);
  database.close();
  const service = await startService({ dataDir: folder, databaseUrl: undefined });
  const client = service.client("ada");
  for (const query of [
    "name_contains=STRASSE",
    "include_tags=kept,b",
    "metadata_filter=%7B%22n%22%3A1%7D",
    "name_contains=ra&exclude_tags=c",
  ])
    expect((await client.get(`/api/assets?include_public=false&${query}`)).body).toMatchObject({
      total: 1,
      assets: [{ name: "Straße.txt" }],
    });
  expect((await client.get("/api/assets?include_public=false&exclude_tags=b")).body).toMatchObject({ total: 0 });
});
