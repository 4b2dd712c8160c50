import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { getFileName, parseMetadata, readAssets, readPreviews, type StoredAsset, toAsset } from "../assets/asset-view";
import { addTags, deleteAsset, editAsset, removeTags, requireAsset, requireOwnAsset } from "../assets/change-asset";
import { createAssetFromHash, createAssetFromStaged, isContentStored } from "../assets/create-asset";
import { type AssetSearch, parseFilter } from "../assets/search/asset-search";
import { ServiceError } from "../service-error";
import { type Database, type Transaction } from "../store/database";
import { receiveUpload } from "./read-upload";
import { type Call, defineRoute, emptyResponse, jsonResponse, type Route, type RouteDependencies } from "./route";
import { sendBytes } from "./send-bytes";

export function createAssetRoutes(dependencies: RouteDependencies): Route[] {
  const { database, now } = dependencies;

  type Caller = Pick<Call<Operation>, "user" | "baseUrl">;

  async function toAssetViews(call: Caller, assets: readonly StoredAsset[]) {
    const previews = await readPreviews(database, call.user.id, assets);
    return assets.map((asset) => toAsset(dependencies.accessTimes.withLatestAccessTime(asset), call.baseUrl, previews));
  }

  async function toAssetView(call: Caller, asset: StoredAsset, isNew?: boolean) {
    const previews = await readPreviews(database, call.user.id, [asset]);
    return toAsset(dependencies.accessTimes.withLatestAccessTime(asset), call.baseUrl, previews, isNew);
  }

  const changeTags = <T>(
    call: Call<typeof operations.addTags | typeof operations.removeTags>,
    change: (tx: Transaction, seq: number) => Promise<T>,
  ) => database.commit(async (tx) => change(tx, (await requireOwnAsset(tx, call.user.id, call.param("id"))).seq));

  return [
    defineRoute(operations.listAssets, async (call) => {
      const query = call.query();
      if (query.sort === "last_access_time") await dependencies.accessTimes.flush();
      const { assets, total, has_more } = await listAssets(dependencies, call.user.id, query);
      return jsonResponse({ assets: await toAssetViews(call, assets), total, has_more });
    }),

    defineRoute(operations.uploadAsset, async (call) => {
      const upload = await receiveUpload(dependencies, call, dependencies.settings.maxUploadBytes);
      try {
        const { tags, id, preview_id, name = upload.fileName, mime_type, user_metadata } = upload.fields;
        const newAsset = { ownerId: call.user.id, name, tags, metadata: user_metadata, mimeType: mime_type, previewId: preview_id, id };
        const { asset, isNew } = await createAssetFromStaged(dependencies, upload.staged, newAsset);
        return jsonResponse(await toAssetView(call, asset, isNew), isNew ? 201 : 200);
      } finally {
        await upload.staged.dispose();
      }
    }),

    defineRoute(operations.createAssetFromHash, async (call) => {
      const body = await call.body();
      const newAsset = {
        ownerId: call.user.id,
        name: body.name ?? "",
        tags: body.tags,
        metadata: body.user_metadata ?? {},
        mimeType: body.mime_type,
      };
      const { asset, isNew } = await createAssetFromHash(dependencies, body.hash, newAsset);
      return jsonResponse(await toAssetView(call, asset, isNew), isNew ? 201 : 200);
    }),

    defineRoute(operations.getAsset, async (call) =>
      jsonResponse(await toAssetView(call, await requireAsset(database, call.user.id, call.param("id")))),
    ),

    defineRoute(operations.editAsset, async (call) => {
      const id = call.param("id");
      await requireOwnAsset(database, call.user.id, id);
      const edit = await call.body();
      const asset = await database.commit(async (tx) => {
        await editAsset(tx, await requireOwnAsset(tx, call.user.id, id), edit, now());
        return requireAsset(tx, call.user.id, id);
      });
      const { name, asset_hash, hash, tags, mime_type, updated_at } = await toAssetView(call, asset);
      return jsonResponse({
        id,
        updated_at,
        name,
        asset_hash,
        hash,
        tags,
        mime_type,
        user_metadata: parseMetadata(asset.metadata),
        preview_id: asset.preview_id,
      });
    }),

    defineRoute(operations.deleteAsset, async (call) => {
      await deleteAsset(dependencies, await requireOwnAsset(database, call.user.id, call.param("id")));
      return emptyResponse(204);
    }),

    defineRoute(operations.addTags, async (call) => {
      const { tags } = await call.body();
      return jsonResponse(await changeTags(call, (tx, seq) => addTags(tx, seq, tags, now())));
    }),

    defineRoute(operations.removeTags, async (call) => {
      const { tags } = await call.body();
      return jsonResponse(await changeTags(call, (tx, seq) => removeTags(tx, seq, tags, now())));
    }),

    defineRoute(operations.getAssetContent, async (call) => {
      const { disposition } = call.query();
      const asset = await requireAsset(database, call.user.id, call.param("id"));
      if (call.request.method === "GET") dependencies.accessTimes.touch(asset);
      const { hash, media_type: mediaType, name, created_at: modifiedMs } = asset;
      return sendBytes(call.request, {
        open: () => dependencies.blobs.open(hash, asset.size),
        storedSize: asset.size,
        canRedirect: true,
        mediaType,
        etag: hash,
        modifiedMs,
        fileName: name || getFileName(asset),
        disposition,
        isImmutable: false,
      });
    }),

    defineRoute(operations.hasAssetHash, async (call) => {
      const hash = call.param("hash");
      if (!/^blake3:[0-9a-f]{64}$/.test(hash))
        throw new ServiceError("INVALID_HASH", "hash: must be blake3: and 64 hexadecimal digits.", { field: "hash" });
      if (!(await isContentStored(dependencies, call.user.id, hash)))
        throw new ServiceError("NOT_FOUND", "You have no content with this hash.");
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
