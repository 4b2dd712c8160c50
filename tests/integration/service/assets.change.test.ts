import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, createColorGraph, createPng, getRecord, type Json, listAssets, runGraph } from "./support";

describe("changing and deleting assets", async () => {
  const service = await startService();
  const client = service.client();

  const uploadAsset = async (
    content: string | Uint8Array<ArrayBuffer>,
    fields: Record<string, string> = {},
    name = "a.txt",
    uploader = client,
  ) => asRecord((await uploader.upload(content, name, fields)).body);
  const readAsset = (asset: Json) => getRecord(client, `/api/assets/${asString(asset.id)}`);
  const putAsset = (asset: Json, body: unknown) => client.call("PUT", `/api/assets/${asString(asset.id)}`, body);
  const getBlobPath = (asset: Json) => {
    const hash = asString(asset.asset_hash).slice(7);
    return join(service.folder, "blobs", "blake3-v1", hash.slice(0, 2), hash.slice(2));
  };

  it("edits name, tags, metadata, media type and preview, and returns them", async () => {
    const preview = await uploadAsset(createPng(9, 9), {}, "p.png");
    const asset = await uploadAsset("edit me", { tags: "a,b", user_metadata: '{"x":1}' });
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
    const editedAsset = await getRecord(client, `/api/assets/${asString(asset.id).toUpperCase()}`);
    expect(editedAsset).toMatchObject({ ...edit, size: 7, created_at: asset.created_at });
    expect(asString(editedAsset.preview_url)).toContain(asString(preview.asset_hash).slice(7));
    expect(Date.parse(asString(editedAsset.updated_at))).toBeGreaterThanOrEqual(Date.parse(asString(asset.updated_at)));
    expect((await putAsset(asset, { tags: [] })).body).toMatchObject({ tags: [], name: "Ä new name" });
    // Removing the preview leaves a text file without one.
    expect(await putAsset(asset, { preview_id: asString(preview.id).toUpperCase() })).toMatchObject({ body: { preview_id: preview.id } });
    expect((await putAsset(asset, { preview_id: null })).status).toBe(200);
    expect(await readAsset(asset)).toMatchObject({ preview_id: null });
    expect(await readAsset(asset)).not.toHaveProperty("preview_url");
  });

  it("rejects empty and invalid edits and other users' previews", async () => {
    const asset = await uploadAsset("do not edit me");
    const otherPreview = await uploadAsset(createPng(7, 7), {}, "f.png", service.client("eve"));
    for (const [body, expectedText] of [
      [{}, "at least one"],
      [{ size: 3 }, "at least one"],
      [{ name: "" }, "name"],
      [{ name: "a\u0000b" }, "name"],
      [{ tags: "a" }, "tags"],
      [{ user_metadata: [] }, "user_metadata"],
      [{ preview_id: "7" }, "preview_id"],
      [{ preview_id: otherPreview.id }, "preview_id"],
    ] as const)
      expect([body, await putAsset(asset, body)]).toMatchObject([
        body,
        { status: 400, body: { message: expect.stringContaining(expectedText) } },
      ]);
    expect((await putAsset(asset, { preview_id: otherPreview.id })).body).toMatchObject({ code: "INVALID_PREVIEW_ID" });
    expect(await readAsset(asset)).toEqual({ ...asset, created_new: undefined });
    const eve = service.client("eve");
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await eve.call(method, `/api/assets/${asString(asset.id)}`, method === "PUT" ? { name: "mine" } : undefined);
      expect([method, response]).toMatchObject([method, { status: 404, body: { code: "NOT_FOUND" } }]);
    }
  });

  it("falls back to the asset itself when its preview is deleted", async () => {
    const preview = await uploadAsset(createPng(11, 9), {}, "p.png");
    const image = await uploadAsset(createPng(12, 9), { preview_id: asString(preview.id) }, "i.png");
    expect(image).toMatchObject({ preview_id: preview.id, preview_url: expect.stringContaining(asString(preview.asset_hash).slice(7)) });
    expect((await client.call("DELETE", `/api/assets/${asString(preview.id)}`)).status).toBe(204);
    expect(await readAsset(image)).toMatchObject({
      preview_id: image.id,
      preview_url: expect.stringContaining(asString(image.asset_hash).slice(7)),
    });
  });

  it("keeps a tag exactly as sent through every endpoint", async () => {
    const spaced = [" b", "b ", "b"];
    const asset = await uploadAsset("spaced", { tags: JSON.stringify([" a"]) });
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
    expect((await uploadAsset("spaced part", { tags: " e " })).tags).toEqual([" e "]);
    expect((await uploadAsset("comma list", { tags: " f , g" })).tags).toEqual(["f", "g"]);
  });

  it("adds and removes tags and reports the result of each", async () => {
    const asset = await uploadAsset("tagged", { tags: "one" });
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

  it("returns HEAD of a hash only for visible content, and 400 for other formats", async () => {
    const asset = await uploadAsset("hashed");
    const getHeadStatus = async (hash: string, requester = client) => (await requester.raw("HEAD", `/api/assets/hash/${hash}`)).status;
    expect(await getHeadStatus(asString(asset.asset_hash))).toBe(200);
    expect(await getHeadStatus(asString(asset.asset_hash).replace(":", "%3A"))).toBe(200);
    expect(await getHeadStatus(asString(asset.asset_hash), service.client("eve"))).toBe(404);
    expect(await getHeadStatus(`blake3:${"0".repeat(64)}`)).toBe(404);
    expect(await getHeadStatus(`sha256:${createHash("sha256").update("hashed").digest("hex")}`)).toBe(400);
    expect(await getHeadStatus("blake3:abc")).toBe(400);
    expect((await client.get(`/api/assets/hash/${asString(asset.asset_hash)}`)).status).toBe(405);
  });

  it("keeps the shared blob of equal outputs until the last asset is deleted", async () => {
    for (let run = 0; run < 2; run += 1) await runGraph(client, createColorGraph(77));
    const outputs = await listAssets(client, "include_tags=output");
    expect(outputs).toHaveLength(2);
    const [first, second] = outputs;
    expect(first).toMatchObject({ asset_hash: second?.asset_hash, user_metadata: { width: 8, height: 8, node_id: "2" } });
    expect([first?.id === second?.id, first?.prompt_id === second?.prompt_id]).toEqual([false, false]);
    for (const [index, asset] of outputs.entries()) {
      expect(existsSync(getBlobPath(asset))).toBe(true);
      await client.call("DELETE", `/api/assets/${asString(asset.id)}`);
      expect(existsSync(getBlobPath(asset))).toBe(index === 0);
    }
  });

  it("keeps bytes that are deleted and uploaded again in parallel", async () => {
    const otherClient = service.client("bob");
    for (let round = 0; round < 12; round += 1) {
      const content = `race ${round}`;
      const asset = await uploadAsset(content);
      const [, secondResponse, otherResponse] = await Promise.all([
        client.call("DELETE", `/api/assets/${asString(asset.id)}`),
        client.upload(content, "again.txt"),
        round % 2 === 0 ? otherClient.upload(content, "theirs.txt") : undefined,
      ]);
      let assetCount = 0;
      for (const [uploader, response] of [[client, secondResponse] as const, [otherClient, otherResponse] as const]) {
        if (!response) continue;
        const id = asString(asRecord(response.body).id);
        // The deletion may follow the second upload. An asset that still exists must have its bytes.
        if (id === asset.id) continue;
        assetCount += 1;
        expect([round, response.status, (await uploader.get(`/api/assets/${id}/content`)).text]).toEqual([round, 201, content]);
      }
      expect([round, existsSync(getBlobPath(asset))]).toEqual([round, assetCount > 0]);
    }
  });

  it("reports missing bytes and restores them on upload", async () => {
    const image = createPng(30, 31);
    const asset = await uploadAsset(image, {}, "lost.png");
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
    expect(await client.upload(image, "found.png")).toMatchObject({ status: 200, body: { id: asset.id, created_new: false } });
    expect((await client.get(`/api/assets/${asString(asset.id)}/content`)).status).toBe(200);
    expect(service.loggedErrors).toEqual([]);
  });

  it("lists a damaged row with its readable fields", async () => {
    const asset = await uploadAsset("damaged");
    await service.queryRows(`UPDATE assets SET metadata = '{', created_at = 9000000000000000 WHERE id = '${asString(asset.id)}'`);
    expect(await readAsset(asset)).toMatchObject({ id: asset.id, user_metadata: {} });
    expect((await listAssets(client, "limit=500")).map(({ id }) => id)).toContain(asset.id);
  });
});
