import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { blake3 } from "@napi-rs/blake-hash";
import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString, countFiles, createPng, getRecord, listAssets } from "./support";

describe("creating assets", async () => {
  const service = await startService();
  const client = service.client();

  it("returns 201 with all fields, then 200 with the same asset", async () => {
    const bytes = createPng(10, 10);
    const createResponse = await client.upload(bytes, "cat.png", { tags: '["input","cats"]', user_metadata: '{"mood":"calm"}' });
    expect(createResponse.status).toBe(201);
    const hash = Buffer.from(blake3(bytes)).toString("hex");
    expect(createResponse.body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "cat.png",
      size: bytes.length,
      asset_hash: `blake3:${hash}`,
      mime_type: "image/png",
      tags: ["input", "cats"],
      user_metadata: { mood: "calm" },
      preview_url: expect.stringMatching(/^http:\/\/service\.test\/api\/view\?.*res=/),
      preview_id: asRecord(createResponse.body).id,
      prompt_id: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.any(String),
      last_access_time: expect.any(String),
      is_immutable: false,
      created_new: true,
    });
    const secondResponse = await client.upload(bytes, "other.png", { tags: "cats,more" });
    expect(secondResponse).toMatchObject({
      status: 200,
      body: { id: asRecord(createResponse.body).id, name: "cat.png", tags: ["input", "cats", "more"], created_new: false },
    });
    expect(await getRecord(client, `/api/assets/${asString(asRecord(createResponse.body).id)}`)).not.toHaveProperty("created_new");
  });

  it("reads repeated tag parts and a file part in any position", async () => {
    const form = new FormData();
    form.append("file", new Blob(["some text"]), "notes.txt");
    for (const tag of ["a", "b", "a"]) form.append("tags", tag);
    form.append("name", "My notes");
    const response = await client.call("POST", "/api/assets", form);
    expect(response).toMatchObject({
      status: 201,
      body: { name: "My notes", mime_type: "text/plain", tags: ["a", "b"], preview_id: null },
    });
    expect(response.body).not.toHaveProperty("preview_url");
  });

  it("creates an asset once per client-chosen id and reveals it to nobody else", async () => {
    const id = "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a01";
    expect(await client.upload("one", "1.txt", { id })).toMatchObject({ status: 201, body: { id } });
    const blobCount = await countFiles(join(service.folder, "blobs"));
    expect(await client.upload("different", "2.txt", { id })).toMatchObject({
      status: 200,
      body: { id, name: "1.txt", size: 3, created_new: false },
    });
    expect(await countFiles(join(service.folder, "blobs"))).toBe(blobCount);
    const eve = service.client("eve");
    const rejection = await eve.upload("three", "3.txt", { id });
    expect(rejection).toMatchObject({ status: 409, body: { code: "ASSET_ID_UNAVAILABLE", details: { field: "id" } } });
    expect(rejection.text).not.toMatch(/1\.txt|ada|blake3/);
    expect((await eve.get(`/api/assets/${id}`)).status).toBe(404);
  });

  it("stores one blob for parallel uploads and reports created_new once", async () => {
    const bytes = createPng(64, 64, { seed: 5 });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => client.upload(bytes, `${n}.png`)));
    expect(responses.filter((response) => asRecord(response.body).created_new === true)).toHaveLength(1);
    expect(new Set(responses.map((response) => asRecord(response.body).id)).size).toBe(1);
    const hash = asString(asRecord(responses[0]?.body).asset_hash).slice(7);
    expect(await readdir(join(service.folder, "blobs", "blake3-v1", hash.slice(0, 2)))).toContain(hash.slice(2));
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it("creates a reference from a SHA-256 or BLAKE3 hash of visible content", async () => {
    const text = "referenced by hash";
    const asset = asRecord((await client.upload(text, "r.txt")).body);
    const sha256 = createHash("sha256").update(text).digest("hex");
    expect(await client.post("/api/assets/from-hash", { hash: `sha256:${sha256}`, tags: ["x"] })).toMatchObject({
      status: 200,
      body: { id: asset.id, tags: ["x"], created_new: false },
    });
    expect(await service.client("eve").post("/api/assets/from-hash", { hash: asset.asset_hash, tags: ["x"] })).toMatchObject({
      status: 404,
    });
    const [sharedAsset] = await listAssets(client, "name_contains=photo.png");
    const ownAsset = await client.post("/api/assets/from-hash", { hash: sharedAsset?.asset_hash, tags: ["mine"], name: "My photo" });
    expect(ownAsset).toMatchObject({ status: 201, body: { name: "My photo", tags: ["mine"], is_immutable: false, created_new: true } });
  });
});
