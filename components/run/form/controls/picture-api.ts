// A connection's pictures: upload, listing, names, and the context of an image input.

import { type ReactNode } from "react";
import { type MaskTarget } from "@/components/mask/file/mask-source";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { findStoredContent } from "@/lib/browser/uploads/asset-from-hash";
import { upload } from "@/lib/browser/uploads/upload";
import { createViewUrl, withQuery } from "@/lib/browser/urls";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { decodePercent } from "@/lib/contract/plain-line";
import { type AssetsResponse } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";

export type UploadResponse = { name: string; subfolder?: string | null; type?: string | null };
/** `isKnown`: the service already had the picture, so nothing was sent. */
type SentPicture = UploadResponse & { isKnown?: boolean };
export type SendPicture = (
  file: File,
  options: { onProgress: (share: number) => void; signal: AbortSignal },
) => Promise<Result<SentPicture, ApiFailure>>;

export type UnsentPicture = { file: File; failure: ApiFailure };

export type AssetQuery = { name_contains: string; include_tags: string[]; exclude_tags?: string[]; offset: number; limit: number };

export type PictureApi = {
  sendPicture: SendPicture;
  listAssets: (query: AssetQuery) => Promise<Result<AssetsResponse, ApiFailure>>;
  /** The file name of a picture named by its content hash; undefined if unknown. */
  findStoredName: (value: string) => Promise<string | undefined>;
  decode?: Decode;
};

/** Maximum assets per response. */
const MAX_ASSETS = 500;

/** `canLookUp`: the service can find pictures by their content hash. */
export function createPictureApi(connection: string | undefined, canLookUp: boolean): PictureApi {
  const listAssets: PictureApi["listAssets"] = (query) =>
    callApi(withQuery("/api/assets", { ...query, sort: "created_at", order: "desc", include_public: true, connection }), {
      cache: "no-store",
    });
  return {
    listAssets,
    findStoredName: createNameLookup(connection, () => listAssets({ name_contains: "", include_tags: [], offset: 0, limit: MAX_ASSETS })),
    sendPicture: async (file, options) => {
      const lookupOptions = { tags: ["input"], connection, signal: options.signal };
      const contentHash = canLookUp ? await findStoredContent(file, lookupOptions) : undefined;
      if (contentHash !== undefined) return ok({ name: toContentName(contentHash, file.name), type: "input", isKnown: true });
      const form = new FormData();
      // Fields precede the file, so that a streaming parser can route it.
      form.set("type", "input");
      form.set("image", file, file.name);
      return upload<UploadResponse>(withQuery("/api/upload/image", { connection }), { form, ...options });
    },
  };
}

/** Uploads the picture and returns its name at the service. */
export async function sendWithoutProgress(file: File, send: SendPicture): Promise<Result<string, UnsentPicture>> {
  const result = await send(file, { onProgress: () => undefined, signal: new AbortController().signal });
  return result.ok ? ok(toImageValue(result.value)) : failed({ file, failure: result.failure });
}

export type PickedPicture = { value: string; name: string };
export type PickerProps = { isOpen: boolean; onClose: () => void; onPicked: (picture: PickedPicture) => void };

/** An image input's context: where pictures are loaded from, and how a new one is uploaded. */
export type PictureContext = PictureApi & {
  connection?: string;
  /** False for members who may not upload to the service, so that pictures can't be replaced. */
  canSend: boolean;
  /** The uploader's own file name of each picture, by the name that is sent. */
  ownNames?: Readonly<Record<string, string>>;
  unsent?: Readonly<Record<string, UnsentPicture>>;
  /** Whether the service's file list is stale, and how to reload it. Without it, the list is used as it is. */
  listing?: { isStale: boolean; reload: () => void };
  onNamed: (sentName: string, ownName: string) => void;
  /** For members who can't see file names. A picture's name is read-only, and the server's files are not offered. */
  hidesFileNames?: boolean;
  /** Replaces the asset picker, for members who may not see the assets. */
  picker?: (props: PickerProps) => ReactNode;
  /** Where masks are saved, if not to the connection's files. */
  masks?: MaskTarget;
  /** Resets to the default or to no picture. Absent if there is nothing to remove. */
  onRemove?: () => void;
  /** A better message than the failure's own, if the form has one. Then no retry is offered. */
  explainFailure?: (failure: ApiFailure) => string | undefined;
  /** The URL of a picture, if it is not one of the service's own files. */
  getSource?: (value: string) => string;
};

// The value of an image input for an asset: the content hash if the service stores files by content, otherwise the file's path. A path may
// later belong to another file.

const hashPattern = /^(?:blake3|sha256):([0-9a-f]{64})$/;
const folders = ["output", "temp", "input"] as const;

type NamedAsset = Pick<AssetView, "name" | "hash" | "tags" | "file">;

export function toAssetValue({ name, hash, tags, file }: NamedAsset): string {
  if (file) return toImageValue({ ...file, name: file.filename });
  const contentHash = hashPattern.exec(hash ?? "")?.[1];
  if (contentHash !== undefined) return toContentName(contentHash, name);
  return toImageValue({ name, type: folders.find((folder) => tags.includes(folder)) });
}

/** The name that upload/image returns: the content hash and the file's extension. */
export function toContentName(contentHash: string, fileName: string): string {
  return `${contentHash}${getExtension(fileName)}`;
}

/** The hash, if the picture's name is only a hash. */
export function getContentHash(value: string): string | undefined {
  return /^(?:blake3:)?([0-9a-f]{64})(?:\.[A-Za-z0-9]{1,12})?$/.exec(toFileRef(value).filename)?.[1];
}

function getExtension(name: string): string {
  return /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? "";
}

// Decodes a chosen file to check that it is a picture, before sending.
// Guarantees: never throws. Types that only services may decode, such as TIFF, pass.

type PictureCheck = "picture" | "not-image" | "broken";
export type Decode = (file: File) => Promise<void>;

const decodableTypes = /^image\/(png|jpeg|webp|gif|bmp|avif)$/;

export async function checkPicture(file: File, decode: Decode = decodeInBrowser): Promise<PictureCheck> {
  const isImageType = file.type.startsWith("image/");
  try {
    await decode(file);
    return "picture";
  } catch {
    // The decoder gives no reason, so the file's type decides on the message.
    if (!isImageType) return "not-image";
    return decodableTypes.test(file.type) ? "broken" : "picture";
  }
}

async function decodeInBrowser(file: File): Promise<void> {
  const bitmap = await createImageBitmap(file);
  bitmap.close();
}

// Finds the file name of a picture that a workflow references by its content hash, as stored files and past jobs do.
// Guarantees: never throws; undefined if the name is unknown. Requests one byte, since the name is in the headers. If the headers contain
// only the hash, the newest assets are searched once.

type ListAssets = () => Promise<Result<AssetsResponse, ApiFailure>>;

function createNameLookup(connection: string | undefined, listNewest: ListAssets): (value: string) => Promise<string | undefined> {
  let newestAssets: ReturnType<ListAssets> | undefined;
  return async (value) => {
    const contentHash = getContentHash(value);
    const headerName = contentHash === undefined ? "missing" : await fetchFileName(value, connection);
    if (headerName === "missing") return undefined;
    if (headerName !== undefined && getContentHash(headerName) === undefined) return headerName;
    const result = await (newestAssets ??= listNewest());
    const asset = result.ok ? result.value.assets.map(toAssetView).find(({ hash }) => hash?.endsWith(`:${contentHash}`)) : undefined;
    return asset?.name;
  };
}

async function fetchFileName(value: string, connection: string | undefined): Promise<string | "missing" | undefined> {
  const controller = new AbortController();
  try {
    const url = createViewUrl({ ...toFileRef(value), connection });
    const response = await fetch(url, { headers: { range: "bytes=0-0" }, cache: "no-store", signal: controller.signal });
    return response.ok ? parseDisposition(response.headers.get("content-disposition") ?? "") : "missing";
  } catch {
    return "missing";
  } finally {
    controller.abort();
  }
}

/** RFC 6266: `filename*` takes precedence over `filename`. */
function parseDisposition(disposition: string): string | undefined {
  const [, encodedName] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quotedName, plainName] = /;\s*filename=(?:"([^"]+)"|([^";\s]+))/i.exec(disposition) ?? [];
  return (encodedName === undefined ? undefined : decodePercent(encodedName)) ?? quotedName ?? plainName;
}
