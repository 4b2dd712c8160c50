// Assets: list, read, create in two ways, tags, edit, delete, bytes.

import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { findAsset, type StoredAsset } from "../assets/asset-row";
import { fileNameOf, readMetadata, toAsset } from "../assets/asset-view";
import { deleteAsset, editAsset, requireAsset, requireChangeable } from "../assets/change-asset";
import { createFromHash, createFromStaged, isStored } from "../assets/create-asset";
import { listAssets } from "../assets/list-assets";
import { addTags, removeTags } from "../assets/tags";
import { type Parts } from "../parts";
import { ServiceError } from "../service-error";
import { PUBLIC_OWNER } from "../users/user";
import { empty, json } from "./answers";
import { receiveUpload } from "./receive-upload";
import { type Call, route, type Route } from "./route";
import { sendBytes } from "./send-bytes";

export function assetRoutes(parts: Parts): Route[] {
  const { database, now } = parts;

  function show(call: Pick<Call<Operation>, "user" | "baseUrl">, asset: StoredAsset, createdNew?: boolean) {
    const previewOf = (id: string) => findAsset(database, id, [call.user.id, PUBLIC_OWNER]);
    return toAsset(parts.accessTimes.fresh(asset), call.baseUrl, previewOf, createdNew);
  }

  return [
    route(operations.listAssets, async (call) => {
      const query = call.query();
      if (query.sort === "last_access_time") await parts.accessTimes.flush();
      const { assets, total, has_more } = listAssets(parts, call.user.id, query);
      return json({ assets: assets.map((asset) => show(call, asset)), total, has_more });
    }),

    route(operations.uploadAsset, async (call) => {
      const upload = await receiveUpload(parts, call, parts.settings.maxUploadBytes);
      try {
        const { tags, id, preview_id, name = upload.fileName, mime_type, user_metadata } = upload.fields;
        const wanted = { ownerId: call.user.id, name, tags, metadata: user_metadata, mimeType: mime_type, previewId: preview_id, id };
        const { asset, createdNew } = await createFromStaged(parts, upload.staged, wanted);
        return json(show(call, asset, createdNew), createdNew ? 201 : 200);
      } finally {
        await upload.staged.dispose();
      }
    }),

    route(operations.createAssetFromHash, async (call) => {
      const body = await call.body();
      const wanted = {
        ownerId: call.user.id,
        name: body.name ?? "",
        tags: body.tags,
        metadata: body.user_metadata ?? {},
        mimeType: body.mime_type,
      };
      const { asset, createdNew } = await createFromHash(parts, body.hash, wanted);
      return json(show(call, asset, createdNew), createdNew ? 201 : 200);
    }),

    route(operations.getAsset, (call) => json(show(call, requireAsset(database, call.user.id, call.param("id"))))),

    route(operations.editAsset, async (call) => {
      const id = call.param("id");
      requireChangeable(database, call.user.id, id);
      const edit = await call.body();
      const asset = await database.commit(() => {
        editAsset(database, requireChangeable(database, call.user.id, id), edit, now());
        return requireAsset(database, call.user.id, id);
      });
      const { name, asset_hash, hash, tags, mime_type, updated_at } = show(call, asset);
      return json({
        id,
        updated_at,
        name,
        asset_hash,
        hash,
        tags,
        mime_type,
        user_metadata: readMetadata(asset.metadata),
        preview_id: asset.preview_id,
      });
    }),

    route(operations.deleteAsset, async (call) => {
      await deleteAsset(parts, requireChangeable(database, call.user.id, call.param("id")));
      return empty(204);
    }),

    route(operations.addTags, async (call) => {
      const { tags } = await call.body();
      return json(
        await database.commit(() => addTags(database, requireChangeable(database, call.user.id, call.param("id")).seq, tags, now())),
      );
    }),

    route(operations.removeTags, async (call) => {
      const { tags } = await call.body();
      return json(
        await database.commit(() => removeTags(database, requireChangeable(database, call.user.id, call.param("id")).seq, tags, now())),
      );
    }),

    route(operations.getAssetContent, (call) => {
      const { disposition } = call.query();
      const asset = requireAsset(database, call.user.id, call.param("id"));
      if (call.request.method === "GET") parts.accessTimes.touch(asset);
      const { hash, media_type: mediaType, name, created_at: modifiedMs } = asset;
      return sendBytes(call.request, {
        open: () => parts.blobs.open(hash, asset.size),
        storedSize: asset.size,
        mediaType,
        etag: hash,
        modifiedMs,
        fileName: name || fileNameOf(asset),
        disposition,
        immutable: false,
      });
    }),

    route(operations.hasAssetHash, async (call) => {
      const hash = call.param("hash");
      if (!/^blake3:[0-9a-f]{64}$/.test(hash))
        throw new ServiceError("INVALID_HASH", "hash: must be blake3: and 64 hexadecimal digits.", { field: "hash" });
      if (!(await isStored(parts, call.user.id, hash))) throw new ServiceError("NOT_FOUND", "You have no content with this hash.");
      return empty(200);
    }),
  ];
}
