import { tellStored } from "@/components/frame/stored-assets";
import { callApi, type CallInit } from "@/lib/browser/api";
import { hashPool } from "@/lib/browser/hash-pool";
import { offerHash } from "@/lib/browser/offer-hash";
import { patiently } from "@/lib/browser/patient-call";
import { upload } from "@/lib/browser/upload";
import { canBeRead } from "@/lib/browser/picture-check";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/exact-json";
import { ok, type Result } from "@/lib/shared/result";
import { type About, type Changes } from "./about";
import { keptAlarms, toKeptAlarm } from "./alarm-book";
import { type Asking } from "./carry";
import { type StoredAsset } from "./upload-item";
import { createUploadStore } from "./upload-store";

/** One for the tab: uploads outlive the page that started them. */
export const tabUploads = createUploadStore(
  {
    hash: hashPool,
    byId: (id, asking) => call<StoredAsset>(asking, assetPath(id), {}),
    fromHash(hash, file, about, asking) {
      const offer = { hash: `blake3:${hash}`, tags: about.tags, ...(file.type && { mime_type: file.type }), ...written(file, about) };
      return waiting(asking, () => offerHash<StoredAsset>(offer, asking));
    },
    send: ({ id, file, about }, { onProgress, ...asking }) => {
      const { connection, signal } = asking;
      const fields = { id, tags: about.tags, preview_id: about.previewId, ...written(file, about) };
      const form = new FormData();
      // Fields before the bytes, so that a streaming reader knows what comes.
      for (const [name, value] of Object.entries(fields))
        if (value !== undefined) form.set(name, typeof value === "string" ? value : writeExactJson(value));
      form.set("file", file, file.name);
      return waiting(asking, () => upload<StoredAsset>(withQuery("/api/assets", { connection }), { form, onProgress, signal }));
    },
    canBeRead,
    change: writeChanges,
    nowMs: () => performance.now(),
  },
  {
    stored: tellStored,
    alarm(item) {
      const alarm = toKeptAlarm(item, Date.now());
      if (alarm) keptAlarms.add(alarm);
    },
    dismissed: ({ id }) => keptAlarms.remove(id),
  },
);

function call<T>(asking: Asking, path: `/${string}`, init: CallInit) {
  const { connection, signal } = asking;
  return waiting(asking, () => callApi<T>(withQuery(path, { connection }), { ...init, signal, cache: "no-store" }));
}

function waiting<T>({ signal, onHold }: Asking, ask: () => Promise<Result<T, ApiFailure>>) {
  return patiently(ask, { signal, onWait: (ms) => onHold(ms !== undefined) });
}

/** The first that is refused says why; what came before it stays written. */
async function writeChanges(id: string, { addedTags, removedTags, fields }: Changes, asking: Asking): Promise<Result<unknown, ApiFailure>> {
  const tags: `/${string}` = `${assetPath(id)}/tags`;
  const calls: [`/${string}`, CallInit][] = [];
  if (addedTags.length > 0) calls.push([tags, { method: "POST", json: { tags: addedTags } }]);
  if (removedTags.length > 0) calls.push([tags, { method: "DELETE", json: { tags: removedTags } }]);
  if (Object.keys(fields).length > 0) calls.push([assetPath(id), { method: "PUT", json: fields }]);
  for (const [path, init] of calls) {
    const result = await call(asking, path, init);
    if (!result.ok) return result;
  }
  return ok(undefined);
}

const assetPath = (id: string): `/${string}` => `/api/assets/${encodeURIComponent(id)}`;

function written(file: File, { name, metadata }: About) {
  return { name: name || file.name, ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
}
