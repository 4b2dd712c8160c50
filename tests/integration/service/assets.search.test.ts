import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { startService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, asString, createColorGraph, getRecord, listAssets, submitGraph, waitForEnd } from "./support";

describe("searching assets", async () => {
  const service = await startService();
  const client = service.client();

  let content = 0;
  const uploadAsset = (name: string, fields: Record<string, string> = {}) =>
    client.upload(`content ${content++}`, name, { name, ...fields });
  const searchNames = async (query: Record<string, string>, user = client) => {
    const parameters = new URLSearchParams({ include_public: "false", ...query }).toString();
    const { assets, total } = await getRecord(user, `/api/assets?${parameters}`);
    const assetNames = asRecords(assets).map((asset) => asString(asset.name));
    expect(assetNames.length).toBe(total);
    return assetNames.sort();
  };
  const expectRejected = async (filter: string) =>
    expect(await client.get(`/api/assets?metadata_filter=${encodeURIComponent(filter)}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_QUERY", message: expect.stringContaining("metadata_filter") },
    });

  it("treats quotes, wildcards and search operators as plain text", async () => {
    const oddTexts = [
      'say "so" AND (no*)',
      "50%_off - name:x",
      "NEAR(a b)^2 + {marks}",
      "it's; DROP TABLE --",
      "a\\b/c",
      "NOT OR",
      "🐈‍⬛ cat 🐈.png",
    ];
    for (const name of oddTexts) await uploadAsset(name);
    for (const name of oddTexts) {
      for (let from = 0; from < name.length; from += 3) {
        const piece = Array.from(name)
          .slice(from, from + 5)
          .join("");
        const matchingNames = oddTexts.filter((value) => value.toLowerCase().includes(piece.toLowerCase())).sort();
        expect(await searchNames({ name_contains: piece })).toEqual(matchingNames);
      }
    }
    expect(await searchNames({ name_contains: '"' })).toEqual(['say "so" AND (no*)']);
    expect(await searchNames({ name_contains: "🐈" })).toEqual(["🐈‍⬛ cat 🐈.png"]);
    expect(await searchNames({ name_contains: "%%%" })).toEqual([]);
    expect(await searchNames({ name_contains: "***" })).toEqual([]);
  });

  it("finds one or two letters with tag and metadata filters", async () => {
    const fields = { tags: '["short"]', user_metadata: '{"group":"short names"}' };
    for (const name of ["qx", "q", "aqx", "x q", "xq.Q", "🦊q"]) await uploadAsset(name, fields);
    const search = async (piece: string) =>
      searchNames({ name_contains: piece, include_tags: "short", metadata_filter: '{"group":"short names"}' });
    expect(await search("q")).toEqual(["aqx", "q", "qx", "x q", "xq.Q", "🦊q"]);
    expect(await search("QX")).toEqual(["aqx", "qx"]);
    expect(await search(" q")).toEqual(["x q"]);
    expect(await search(".q")).toEqual(["xq.Q"]);
    expect(await search("🦊")).toEqual(["🦊q"]);
    expect(await search("xx")).toEqual([]);
    expect(await searchNames({ name_contains: "qx" })).toEqual(["aqx", "qx"]);
  });

  it.each([
    ["Straße.png", ["STRASSE", "strasse", "ß", "ẞ", "raße.p", "SS"], ["Strase"]],
    ["ΟΔΟΣ ΑΒΓ.png", ["οδος", "οδοσ", "ΔΟΣ Α", "ς"], ["οδα"]],
    ["İZMİR.png", ["İZMİR", "i̇zm"], ["ızm"]],
    ["Re\u0301sume\u0301.png", ["résumé", "RÉSUMÉ", "RE\u0301S"], ["resume"]],
    ["ПрИвЕт.png", ["привет", "ИВЕ"], ["privet"]],
  ])("finds %s in any case but only with its accents", async (name, matchingPieces, unmatchedPieces) => {
    const assetName = asString(asRecord((await uploadAsset(name)).body).name);
    for (const piece of matchingPieces) expect(await searchNames({ name_contains: piece })).toContain(assetName);
    for (const piece of unmatchedPieces) expect(await searchNames({ name_contains: piece })).not.toContain(assetName);
  });

  it("lists a job's simultaneous outputs in output order", async () => {
    const batch = { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 5, color: 7 } };
    const id = await submitGraph(client, { ...createColorGraph(7), "1": batch });
    await waitForEnd(client, id);
    const outputs = asRecords((await getRecord(client, `/api/jobs/${id}/assets`)).assets).map((asset) => asset.id);
    const assets = await listAssets(client, "include_tags=output&order=asc&include_public=false");
    expect(assets.filter((asset) => asset.prompt_id === id).map((asset) => asset.id)).toEqual(outputs);
    expect(outputs).toHaveLength(5);
  });

  it("distinguishes numbers, strings, booleans and null in metadata", async () => {
    const values = { one: 1, real: 1.5, text: "1", yes: true, word: "true", none: null, list: ["x", 2, { deep: 1 }], object: { x: 1 } };
    for (const [name, value] of Object.entries(values))
      await uploadAsset(`metadata ${name}`, { user_metadata: JSON.stringify({ v: value }) });
    const search = async (filter: unknown) =>
      (await searchNames({ name_contains: "metadata ", metadata_filter: JSON.stringify(filter) })).map((name) =>
        name.slice("metadata ".length),
      );
    for (const [filter, names] of [
      [{ v: 1 }, ["one"]],
      [{ v: 1.5 }, ["real"]],
      [{ v: "1" }, ["text"]],
      [{ v: true }, ["yes"]],
      [{ v: "true" }, ["word"]],
      [{ v: null }, ["none"]],
      [{ v: "x" }, ["list"]],
      [{ v: [2, "1", false] }, ["list", "text"]],
      [{ v: { x: 1 } }, ["object"]],
      [{ "v.x": 1 }, ["object"]],
      [{ v: { deep: 1 } }, []],
      [{ v: [] }, []],
      [{ v: 1, w: 1 }, []],
    ] as const)
      expect([filter, await search(filter)]).toEqual([filter, names]);
    await expectRejected('{"v":[{"x":1}]}');
    await expectRejected('{"a\\"b":1}');
  });

  it("finds metadata values beyond the index limit", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`key${index}`, index]));
    await uploadAsset("many metadata values", { user_metadata: JSON.stringify(metadata) });
    await uploadAsset("little metadata", { user_metadata: '{"key699":699}' });
    expect(await searchNames({ metadata_filter: '{"key699":699}' })).toEqual(["little metadata", "many metadata values"]);
    expect(await searchNames({ metadata_filter: '{"key699":700}' })).toEqual([]);
    const refinePath = `/api/assets/tags/refine?metadata_filter=${encodeURIComponent('{"key5":6}')}`;
    expect((await client.get(refinePath)).body).toEqual({ tag_counts: {} });
  });

  it("distinguishes long metadata values and counts each asset once", async () => {
    const [first, second] = [`${"same ".repeat(100)}one`, `${"same ".repeat(100)}other`];
    await uploadAsset("long one", { user_metadata: JSON.stringify({ prompt: first, others: [second] }) });
    await uploadAsset("long other", { user_metadata: JSON.stringify({ prompt: second }) });
    expect(await searchNames({ metadata_filter: JSON.stringify({ prompt: first }) })).toEqual(["long one"]);
    expect(await searchNames({ metadata_filter: JSON.stringify({ prompt: [second, first] }) })).toEqual(["long one", "long other"]);
    expect(await searchNames({ metadata_filter: JSON.stringify({ prompt: `${first} ` }) })).toEqual([]);
    await uploadAsset("listed", { user_metadata: '{"colours":["red","green","red"]}' });
    expect(await searchNames({ metadata_filter: '{"colours":["red","green"]}' })).toEqual(["listed"]);
  });

  it.each([4096, 2 ** 24])("distinguishes tags created after %d others", async (otherCount) => {
    await service.queryRows(
      `INSERT INTO tag_counts (id, owner_id, tag, n) SELECT max(id) + ${otherCount}, 0, 'others-${otherCount}', 0 FROM tag_counts`,
    );
    const tags = ["x", "y", "z"].map((tag) => `${tag}-${otherCount}`);
    for (const [index, tag] of tags.entries()) await uploadAsset(`${tag}.txt`, { tags: JSON.stringify([tag, ...tags.slice(0, index)]) });
    expect(await searchNames({ include_tags: tags.join(",") })).toEqual([`z-${otherCount}.txt`]);
    expect(await searchNames({ include_tags: `x-${otherCount}`, exclude_tags: `z-${otherCount}` })).toEqual([
      `x-${otherCount}.txt`,
      `y-${otherCount}.txt`,
    ]);
    expect(await searchNames({ include_tags: `x-${otherCount}`, exclude_tags: "unused-tag" })).toHaveLength(3);
  });

  it("finds nothing when the name filter contains a NUL", async () => {
    await uploadAsset("abc.nul");
    expect(await searchNames({ name_contains: "abc\0" })).toEqual([]);
    expect(await searchNames({ name_contains: "\0abc" })).toEqual([]);
  });

  it("finds other assets when one asset's metadata is damaged", async () => {
    await uploadAsset("whole a.txt", { user_metadata: '{"damage":1}' });
    await uploadAsset("whole b.txt", { user_metadata: '{"damage":1}' });
    await uploadAsset("broken c.txt", { user_metadata: '{"damage":1}' });
    await service.queryRows("UPDATE assets SET metadata = '{damaged' WHERE name = 'broken c.txt'");
    const filters: Record<string, string>[] = [{}, { limit: "1" }, { name_contains: "le" }];
    for (const filter of filters) {
      const query = new URLSearchParams({ metadata_filter: '{"damage":1}', ...filter }).toString();
      const { assets, total } = await getRecord(client, `/api/assets?${query}`);
      expect([total, asRecords(assets).length]).toEqual([2, "limit" in filter ? 1 : 2]);
    }
  });

  it("hides other users' assets", async () => {
    await uploadAsset("ada's secret plan.txt", { tags: "secret", user_metadata: '{"k":"v"}' });
    const eve = service.client("eve");
    expect(await searchNames({ name_contains: "secret plan" }, eve)).toEqual([]);
    expect(await searchNames({ include_tags: "secret" }, eve)).toEqual([]);
    expect(await searchNames({ metadata_filter: '{"k":"v"}' }, eve)).toEqual([]);
    expect((await eve.get("/api/tags?prefix=secret")).body).toEqual({ tags: [], total: 0, has_more: false });
    expect((await eve.get("/api/assets/tags/refine?include_tags=secret")).body).toEqual({ tag_counts: {} });
  });
});

it("finds assets after replacing an older search index", async () => {
  const folder = createTemporaryFolder();
  const database = new SqliteConnection(join(folder, "service.sqlite"));
  database.exec(readFileSync("tests/fixtures/schemas/service-sqlite.sql", "utf8"));
  database.exec(`
    INSERT INTO users (id, name, status, created_at) VALUES (1, 'ada', 'active', 0);
    INSERT INTO blobs VALUES ('00', '00', 1, 'text/plain', 0);
    INSERT INTO assets (seq, id, owner_id, origin, hash, name, name_folded, size, metadata, created_at, updated_at, last_access_time)
      VALUES (1, 'x', 1, 'upload', '00', 'Straße.txt', 'strasse.txt', 1, '{"n":1}', 0, 0, 0);
    INSERT INTO asset_tags (asset_seq, tag, position) VALUES (1, 'a', 1), (1, 'b', 2);`);
  database.close();
  const service = await startService({ dataDir: folder, databaseUrl: undefined });
  const client = service.client("ada");
  for (const query of ["name_contains=STRASSE", "include_tags=a,b", "metadata_filter=%7B%22n%22%3A1%7D", "name_contains=ra&exclude_tags=c"])
    expect((await client.get(`/api/assets?include_public=false&${query}`)).body).toMatchObject({
      total: 1,
      assets: [{ name: "Straße.txt" }],
    });
  expect((await client.get("/api/assets?include_public=false&exclude_tags=b")).body).toMatchObject({ total: 0 });
});
