import { createHash } from "node:crypto";
import { access, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asRecords, asString, canvas, type Json, png, submit, waitForEnd } from "./support";

describe("changing and deleting assets", async () => {
  const service = await startService();
  const client = service.client();

  const add = async (content: string | Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}, name = "a.txt", as = client) =>
    asRecord((await as.upload(content, name, fields)).body);
  const readAsset = async (asset: Json) => asRecord((await client.get(`/api/assets/${asString(asset.id)}`)).body);
  const putAsset = (asset: Json, body: unknown) => client.call("PUT", `/api/assets/${asString(asset.id)}`, body);
  const getBlobPath = (asset: Json, folder = service.folder) => {
    const hash = asString(asset.asset_hash).slice(7);
    return join(folder, "blobs", "blake3-v1", hash.slice(0, 2), hash.slice(2));
  };
  const exists = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );

  it("edits name, tags, metadata, media type and preview, and returns them", async () => {
    const preview = await add(png(9, 9), {}, "p.png");
    const asset = await add("edit me", { tags: "a,b", user_metadata: '{"x":1}' });
    const edit = {
      name: "Ä new name",
      tags: ["b", "c"],
      mime_type: "text/x-own",
      user_metadata: { y: { z: [1] } },
      preview_id: preview.id,
    };
    const response = await putAsset(asset, { ...edit, unknown: "is ignored" });
    expect(response).toMatchObject({
      status: 200,
      body: { id: asset.id, asset_hash: asset.asset_hash, ...edit, updated_at: expect.stringMatching(/Z$/) },
    });
    const now = await readAsset(asset);
    expect(now).toMatchObject({ ...edit, size: 7, created_at: asset.created_at });
    expect(asString(now.preview_url)).toContain(asString(preview.asset_hash).slice(7));
    expect(Date.parse(asString(now.updated_at))).toBeGreaterThanOrEqual(Date.parse(asString(asset.updated_at)));
    expect((await putAsset(asset, { tags: [] })).body).toMatchObject({ tags: [], name: "Ä new name" });
    // Removed again; an image is its own preview, a text has none.
    expect(await putAsset(asset, { preview_id: asString(preview.id).toUpperCase() })).toMatchObject({ body: { preview_id: preview.id } });
    expect((await putAsset(asset, { preview_id: null })).status).toBe(200);
    expect(await readAsset(asset)).toMatchObject({ preview_id: null });
    expect(await readAsset(asset)).not.toHaveProperty("preview_url");
  });

  it("refuses empty and mistyped edits and foreign previews", async () => {
    const asset = await add("do not edit me");
    const foreign = await add(png(7, 7), {}, "f.png", service.client("eve"));
    for (const [body, word] of [
      [{}, "at least one"],
      [{ size: 3 }, "at least one"],
      [{ name: "" }, "name"],
      [{ name: "a\u0000b" }, "name"],
      [{ tags: "a" }, "tags"],
      [{ user_metadata: [] }, "user_metadata"],
      [{ preview_id: "7" }, "preview_id"],
      [{ preview_id: foreign.id }, "preview_id"],
    ] as const)
      expect([body, await putAsset(asset, body)]).toMatchObject([body, { status: 400, body: { message: expect.stringContaining(word) } }]);
    expect((await putAsset(asset, { preview_id: foreign.id })).body).toMatchObject({ code: "INVALID_PREVIEW_ID" });
    expect(await readAsset(asset)).toEqual({ ...asset, created_new: undefined });
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await service
        .client("eve")
        .call(method, `/api/assets/${asString(asset.id)}`, method === "PUT" ? { name: "mine" } : undefined);
      expect([method, response]).toMatchObject([method, { status: 404, body: { code: "NOT_FOUND" } }]);
    }
  });

  it("falls back to the asset itself when its preview is deleted", async () => {
    const preview = await add(png(11, 9), {}, "p.png");
    const image = await add(png(12, 9), { preview_id: asString(preview.id) }, "i.png");
    expect(image).toMatchObject({ preview_id: preview.id, preview_url: expect.stringContaining(asString(preview.asset_hash).slice(7)) });
    expect((await client.call("DELETE", `/api/assets/${asString(preview.id)}`)).status).toBe(204);
    expect(await readAsset(image)).toMatchObject({
      preview_id: image.id,
      preview_url: expect.stringContaining(asString(image.asset_hash).slice(7)),
    });
  });

  it("finds an asset by its id in capitals", async () => {
    const asset = await add("capital");
    expect(await client.get(`/api/assets/${asString(asset.id).toUpperCase()}`)).toMatchObject({ status: 200, body: { id: asset.id } });
  });

  it("keeps a tag exactly as sent through every endpoint", async () => {
    const spaced = [" b", "b ", "b"];
    const asset = await add("spaced", { tags: JSON.stringify([" a"]) });
    const path = `/api/assets/${asString(asset.id)}`;
    expect(asset.tags).toEqual([" a"]);
    expect((await client.post(`${path}/tags`, { tags: spaced })).body).toMatchObject({ total_tags: [" a", ...spaced], added: spaced });
    expect((await client.call("DELETE", `${path}/tags`, { tags: [" b", " b "] })).body).toMatchObject({
      total_tags: [" a", "b ", "b"],
      removed: [" b"],
      not_present: [" b "],
    });
    expect((await putAsset(asset, { tags: [" c "] })).body).toMatchObject({ tags: [" c "] });
    const secondResponse = await client.post("/api/assets/from-hash", { hash: asset.asset_hash, tags: ["d "] });
    expect(secondResponse.body).toMatchObject({ tags: [" c ", "d "] });
    expect((await add("spaced part", { tags: " e " })).tags).toEqual([" e "]);
    expect((await add("comma list", { tags: " f , g" })).tags).toEqual(["f", "g"]);
  });

  it("adds and removes tags and reports the result of each", async () => {
    const asset = await add("tagged", { tags: "one" });
    const path = `/api/assets/${asString(asset.id)}/tags`;
    expect((await client.post(path, { tags: ["one", "two", "two", "three"] })).body).toEqual({
      total_tags: ["one", "two", "three"],
      added: ["two", "three"],
      already_present: ["one"],
      removed: [],
      not_present: [],
    });
    expect((await client.call("DELETE", path, { tags: ["two", "four"] })).body).toEqual({
      total_tags: ["one", "three"],
      removed: ["two"],
      not_present: ["four"],
      added: [],
      already_present: [],
    });
    for (const body of [{}, { tags: [] }, { tags: [""] }, { tags: [1] }, { tags: "a" }])
      for (const method of ["POST", "DELETE"])
        expect(await client.call(method, path, body)).toMatchObject({ status: 400, body: { message: expect.stringContaining("tags") } });
    expect((await service.client("eve").post(path, { tags: ["mine"] })).status).toBe(404);
  });

  it("handles HEAD of a hash by visibility and returns 400 for another format", async () => {
    const asset = await add("hashed");
    const head = async (hash: string, as = client) => (await as.raw("HEAD", `/api/assets/hash/${hash}`)).status;
    expect(await head(asString(asset.asset_hash))).toBe(200);
    expect(await head(asString(asset.asset_hash).replace(":", "%3A"))).toBe(200);
    expect(await head(asString(asset.asset_hash), service.client("eve"))).toBe(404);
    expect(await head(`blake3:${"0".repeat(64)}`)).toBe(404);
    expect(await head(`sha256:${createHash("sha256").update("hashed").digest("hex")}`)).toBe(400);
    expect(await head("blake3:abc")).toBe(400);
    expect((await client.get(`/api/assets/hash/${asString(asset.asset_hash)}`)).status).toBe(405);
  });

  it("keeps an asset per output with equal bytes until the last is deleted", async () => {
    for (let run = 0; run < 2; run += 1) await waitForEnd(client, await submit(client, canvas(77)));
    const outputs = asRecords(asRecord((await client.get("/api/assets?include_tags=output")).body).assets);
    expect(outputs).toHaveLength(2);
    const [first, second] = outputs;
    expect(first).toMatchObject({ asset_hash: second?.asset_hash, user_metadata: { width: 8, height: 8, node_id: "2" } });
    expect([first?.id === second?.id, first?.prompt_id === second?.prompt_id]).toEqual([false, false]);
    for (const [at, asset] of outputs.entries()) {
      expect(await exists(getBlobPath(asset))).toBe(true);
      await client.call("DELETE", `/api/assets/${asString(asset.id)}`);
      expect(await exists(getBlobPath(asset))).toBe(at === 0);
    }
  });

  it("loses no bytes when the same content is deleted and sent again at the same time", async () => {
    const otherClient = service.client("bob");
    for (let round = 0; round < 25; round += 1) {
      const content = `race ${round}`;
      const asset = await add(content);
      const [, secondResponse, otherResponse] = await Promise.all([
        client.call("DELETE", `/api/assets/${asString(asset.id)}`),
        client.upload(content, "again.txt"),
        round % 2 === 0 ? otherClient.upload(content, "theirs.txt") : undefined,
      ]);
      const remaining = [[client, secondResponse] as const, ...(otherResponse ? [[otherClient, otherResponse] as const] : [])];
      let holders = 0;
      for (const [who, response] of remaining) {
        const id = asString(asRecord(response.body).id);
        // It was deleted after it was found again, which is a valid order. But an asset that still exists has its bytes.
        if (id === asset.id) continue;
        holders += 1;
        expect([round, response.status, (await who.get(`/api/assets/${id}/content`)).text]).toEqual([round, 201, content]);
      }
      expect([round, await exists(getBlobPath(asset))]).toEqual([round, holders > 0]);
    }
  });

  it("reports missing bytes, keeps working and restores them on upload", async () => {
    const picture = png(30, 31);
    const asset = await add(picture, {}, "lost.png");
    await rm(getBlobPath(asset));
    const hash = asString(asset.asset_hash);
    for (const path of [`/api/assets/${asString(asset.id)}/content`, `/api/view?filename=${hash}`, `/api/view?filename=${hash}&res=64`])
      expect([path, await client.get(path)]).toMatchObject([
        path,
        { status: 404, body: { code: "NOT_FOUND", message: expect.stringContaining("missing") } },
      ]);
    expect((await client.get(`/api/view?filename=${hash}&channel=a`)).status).toBe(404);
    expect((await client.raw("HEAD", `/api/assets/hash/${hash}`)).status).toBe(404);
    expect((await client.post("/api/assets/from-hash", { hash, tags: ["x"] })).status).toBe(404);
    expect(await readAsset(asset)).toMatchObject({ id: asset.id, name: "lost.png" });
    expect((await client.get("/api/assets")).status).toBe(200);
    expect(await client.upload(picture, "found.png")).toMatchObject({ status: 200, body: { id: asset.id, created_new: false } });
    expect((await client.get(`/api/assets/${asString(asset.id)}/content`)).status).toBe(200);
    expect(service.complaints).toEqual([]);
  });

  it("shows the readable rest of a damaged row within the list", async () => {
    const asset = await add("damaged");
    await service.rows(`UPDATE assets SET metadata = '{', created_at = 9000000000000000 WHERE id = '${asString(asset.id)}'`);
    expect(await readAsset(asset)).toMatchObject({ id: asset.id, user_metadata: {} });
    const all = asRecord((await client.get("/api/assets?limit=500")).body);
    expect(asRecords(all.assets).map(({ id }) => id)).toContain(asset.id);
  });
});
