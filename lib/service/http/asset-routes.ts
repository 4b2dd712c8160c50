import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { getFileName, readAssets, readMetadata, readPreviews, type StoredAsset, toAsset } from "../assets/asset-view";
import { addTags, deleteAsset, editAsset, removeTags, requireAsset, requireChangeable } from "../assets/change-asset";
import { createFromHash, createFromStaged, isStored } from "../assets/create-asset";
import { type AssetSearch, parseFilter } from "../assets/search/asset-search";
import { ServiceError } from "../service-error";
import { type Database, type Transaction } from "../store/database";
import { receiveUpload } from "./read-upload";
import { type Call, emptyResponse, jsonResponse, type Route, route, type RouteDependencies } from "./route";
import { sendBytes } from "./send-bytes";

export function assetRoutes(parts: RouteDependencies): Route[] {
  const { database, now } = parts;

  type Caller = Pick<Call<Operation>, "user" | "baseUrl">;

  async function toAssetViews(call: Caller, assets: readonly StoredAsset[]) {
    const previews = await readPreviews(database, call.user.id, assets);
    return assets.map((asset) => toAsset(parts.accessTimes.fresh(asset), call.baseUrl, previews));
  }

  async function toView(call: Caller, asset: StoredAsset, createdNew?: boolean) {
    const previews = await readPreviews(database, call.user.id, [asset]);
    return toAsset(parts.accessTimes.fresh(asset), call.baseUrl, previews, createdNew);
  }

  const changeTags = <T>(
    call: Call<typeof operations.addTags | typeof operations.removeTags>,
    change: (tx: Transaction, seq: number) => Promise<T>,
  ) => database.commit(async (tx) => change(tx, (await requireChangeable(tx, call.user.id, call.param("id"))).seq));

  return [
    route(operations.listAssets, async (call) => {
      const query = call.query();
      if (query.sort === "last_access_time") await parts.accessTimes.flush();
      const { assets, total, has_more } = await listAssets(parts, call.user.id, query);
      return jsonResponse({ assets: await toAssetViews(call, assets), total, has_more });
    }),

    route(operations.uploadAsset, async (call) => {
      const upload = await receiveUpload(parts, call, parts.settings.maxUploadBytes);
      try {
        const { tags, id, preview_id, name = upload.fileName, mime_type, user_metadata } = upload.fields;
        const newAsset = { ownerId: call.user.id, name, tags, metadata: user_metadata, mimeType: mime_type, previewId: preview_id, id };
        const { asset, createdNew } = await createFromStaged(parts, upload.staged, newAsset);
        return jsonResponse(await toView(call, asset, createdNew), createdNew ? 201 : 200);
      } finally {
        await upload.staged.dispose();
      }
    }),

    route(operations.createAssetFromHash, async (call) => {
      const body = await call.body();
      const newAsset = {
        ownerId: call.user.id,
        name: body.name ?? "",
        tags: body.tags,
        metadata: body.user_metadata ?? {},
        mimeType: body.mime_type,
      };
      const { asset, createdNew } = await createFromHash(parts, body.hash, newAsset);
      return jsonResponse(await toView(call, asset, createdNew), createdNew ? 201 : 200);
    }),

    route(operations.getAsset, async (call) =>
      jsonResponse(await toView(call, await requireAsset(database, call.user.id, call.param("id")))),
    ),

    route(operations.editAsset, async (call) => {
      const id = call.param("id");
      await requireChangeable(database, call.user.id, id);
      const edit = await call.body();
      const asset = await database.commit(async (tx) => {
        await editAsset(tx, await requireChangeable(tx, call.user.id, id), edit, now());
        return requireAsset(tx, call.user.id, id);
      });
      const { name, asset_hash, hash, tags, mime_type, updated_at } = await toView(call, asset);
      return jsonResponse({
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
      await deleteAsset(parts, await requireChangeable(database, call.user.id, call.param("id")));
      return emptyResponse(204);
    }),

    route(operations.addTags, async (call) => {
      const { tags } = await call.body();
      return jsonResponse(await changeTags(call, (tx, seq) => addTags(tx, seq, tags, now())));
    }),

    route(operations.removeTags, async (call) => {
      const { tags } = await call.body();
      return jsonResponse(await changeTags(call, (tx, seq) => removeTags(tx, seq, tags, now())));
    }),

    route(operations.getAssetContent, async (call) => {
      const { disposition } = call.query();
      const asset = await requireAsset(database, call.user.id, call.param("id"));
      if (call.request.method === "GET") parts.accessTimes.touch(asset);
      const { hash, media_type: mediaType, name, created_at: modifiedMs } = asset;
      return sendBytes(call.request, {
        open: () => parts.blobs.open(hash, asset.size),
        storedSize: asset.size,
        mayRedirect: true,
        mediaType,
        etag: hash,
        modifiedMs,
        fileName: name || getFileName(asset),
        disposition,
        immutable: false,
      });
    }),

    route(operations.hasAssetHash, async (call) => {
      const hash = call.param("hash");
      if (!/^blake3:[0-9a-f]{64}$/.test(hash))
        throw new ServiceError("INVALID_HASH", "hash: must be blake3: and 64 hexadecimal digits.", { field: "hash" });
      if (!(await isStored(parts, call.user.id, hash))) throw new ServiceError("NOT_FOUND", "You have no content with this hash.");
      return emptyResponse(200);
    }),
  ];
}

type AssetPage = { assets: StoredAsset[]; total: number; has_more: boolean };

async function listAssets(
  { database, assetSearch }: { database: Database; assetSearch: AssetSearch },
  userId: number,
  query: AssetsQuery,
): Promise<AssetPage> {
  const { seqs, total } = await assetSearch.findPage(userId, parseFilter(query), query.include_public, query);
  return { assets: await readAssets(database, seqs), total, has_more: query.offset + seqs.length < total && seqs.length > 0 };
}
