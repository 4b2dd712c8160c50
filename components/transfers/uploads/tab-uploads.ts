import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { callApi, type CallInit } from "@/lib/browser/api";
import { retryRateLimited } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { hashPool } from "@/lib/browser/uploads/hash-pool";
import { offerHash } from "@/lib/browser/uploads/offer-hash";
import { canDecode } from "@/lib/browser/uploads/picture-check";
import { upload } from "@/lib/browser/uploads/upload";
import { withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { ACT_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type AssetFieldPart, type AssetFields, type FieldChanges } from "./asset-fields-form";
import { type RequestOptions } from "./upload-file";
import { type FieldsFailure, type StoredAsset } from "./upload-item";
import { createUploadStore } from "./upload-store";

/** One store per tab, since uploads outlive the page that started them. */
export const tabUploads = createUploadStore(
  {
    hash: hashPool,
    byId: (id, options) => call<StoredAsset>(options, assetPath(id), {}),
    async fromHash(hash, file, assetFields, options) {
      const offer = {
        hash: `blake3:${hash}`,
        tags: assetFields.tags,
        ...(file.type && { mime_type: file.type }),
        ...toFormFields(file, assetFields),
      };
      const offerResult = await retryWithHold(options, () => offerHash<StoredAsset>(offer, options));
      if (!offerResult.ok) return offerResult;
      if (offerResult.value.kind === "unsure" && offerResult.value.failure) return failed(offerResult.value.failure);
      return ok(offerResult.value.kind === "made" ? offerResult.value.asset : undefined);
    },
    send: ({ id, file, assetFields }, { onProgress, ...requestOptions }) => {
      const { connection, signal, action } = requestOptions;
      const fields = { id, tags: assetFields.tags, preview_id: assetFields.previewId, ...toFormFields(file, assetFields) };
      const form = new FormData();
      // Fields before the bytes, so that a streaming reader has them first.
      for (const [name, value] of Object.entries(fields))
        if (value !== undefined) form.set(name, typeof value === "string" ? value : writeExactJson(value));
      form.set("file", file, file.name);
      return retryWithHold(requestOptions, () =>
        upload<StoredAsset>(withQuery("/api/assets", { connection }), { form, onProgress, signal, act: action }),
      );
    },
    canBeRead: canDecode,
    change: writeChanges,
    nowMs: () => performance.now(),
  },
  { storedAsset: notifyStoredAssets },
);

function call<T>(options: RequestOptions, path: `/${string}`, init: CallInit) {
  const { connection, signal, action } = options;
  const headers = action === undefined ? undefined : { [ACT_HEADER]: action };
  return retryWithHold(options, () => callApi<T>(withQuery(path, { connection }), { ...init, headers, signal, cache: "no-store" }));
}

function retryWithHold<T>({ signal, onHold }: RequestOptions, request: () => Promise<Result<T, ApiFailure>>) {
  return retryRateLimited(request, { signal, onWait: (ms) => onHold(ms !== undefined) });
}

/** Writes each part separately, since a service may not support all of them. Reports the first failure. */
async function writeChanges(
  id: string,
  { addedTags, removedTags, fields }: FieldChanges,
  options: RequestOptions,
): Promise<Result<unknown, FieldsFailure>> {
  const tags: `/${string}` = `${assetPath(id)}/tags`;
  const calls: { path: `/${string}`; init: CallInit; parts: AssetFieldPart[] }[] = [];
  if (addedTags.length > 0) calls.push({ path: tags, init: { method: "POST", json: { tags: addedTags } }, parts: ["tags"] });
  if (removedTags.length > 0) calls.push({ path: tags, init: { method: "DELETE", json: { tags: removedTags } }, parts: ["tags"] });
  const fieldParts = fieldOrder.flatMap(([field, part]) => (field in fields ? [part] : []));
  if (fieldParts.length > 0) calls.push({ path: assetPath(id), init: { method: "PUT", json: fields }, parts: fieldParts });
  let failure: ApiFailure | undefined;
  const parts: AssetFieldPart[] = [];
  for (const { path, init, parts: writtenParts } of calls) {
    const result = await call(options, path, init);
    if (result.ok) continue;
    failure ??= result.failure;
    parts.push(...writtenParts);
  }
  return failure ? failed({ failure, parts: [...new Set(parts)] }) : ok(undefined);
}

const fieldOrder = [
  ["name", "name"],
  ["user_metadata", "metadata"],
  ["preview_id", "preview"],
] as const satisfies readonly (readonly [string, AssetFieldPart])[];

const assetPath = (id: string): `/${string}` => `/api/assets/${encodeURIComponent(id)}`;

function toFormFields(file: File, { name, metadata }: AssetFields) {
  return { name: name || file.name, ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
}
