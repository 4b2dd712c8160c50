// Pictures of a connection: upload, listing, names, and the context of an image input.

import { type ReactNode } from "react";
import { type MaskTarget } from "@/components/mask/file/picture-file";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { findStoredContent } from "@/lib/browser/uploads/offer-hash";
import { upload } from "@/lib/browser/uploads/upload";
import { createViewUrl, withQuery } from "@/lib/browser/urls";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { decodePercent } from "@/lib/contract/plain-line";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";

export type UploadAnswer = { name: string; subfolder?: string | null; type?: string | null };
/** `isKnown`: the service already had the picture, so nothing was sent. */
type SentPicture = UploadAnswer & { isKnown?: boolean };
export type SendPicture = (
  file: File,
  options: { onProgress: (share: number) => void; signal: AbortSignal },
) => Promise<Result<SentPicture, ApiFailure>>;

export type UnsentPicture = { file: File; failure: ApiFailure };

export type AssetQuery = { name_contains: string; include_tags: string[]; exclude_tags?: string[]; offset: number; limit: number };

export type PictureApi = {
  sendPicture: SendPicture;
  listAssets: (query: AssetQuery) => Promise<Result<AssetsAnswer, ApiFailure>>;
  /** The file name of a picture named by its content hash; undefined if unknown. */
  storedName: (value: string) => Promise<string | undefined>;
  decode?: Decode;
};

/** Maximum assets per response. */
const MAX_ASSETS = 500;

/** `canLookUp`: the service finds pictures by their content, not only by their names in its folders. */
export function createPictureApi(connection: string | undefined, canLookUp: boolean): PictureApi {
  const listAssets: PictureApi["listAssets"] = (query) =>
    callApi(withQuery("/api/assets", { ...query, sort: "created_at", order: "desc", include_public: true, connection }), {
      cache: "no-store",
    });
  return {
    listAssets,
    storedName: createStoredNames(connection, () => listAssets({ name_contains: "", include_tags: [], offset: 0, limit: MAX_ASSETS })),
    sendPicture: async (file, options) => {
      const lookup = { tags: ["input"], connection, signal: options.signal };
      const hash = canLookUp ? await findStoredContent(file, lookup) : undefined;
      if (hash !== undefined) return ok({ name: contentName(hash, file.name), type: "input", isKnown: true });
      const form = new FormData();
      // Fields before bytes, so that a streaming reader can route them.
      form.set("type", "input");
      form.set("image", file, file.name);
      return upload<UploadAnswer>(withQuery("/api/upload/image", { connection }), { form, ...options });
    },
  };
}

/** Returns the picture's name at the service. */
export async function sendWithoutProgress(file: File, send: SendPicture): Promise<Result<string, UnsentPicture>> {
  const result = await send(file, { onProgress: () => undefined, signal: new AbortController().signal });
  return result.ok ? ok(toImageValue(result.value)) : failed({ file, failure: result.failure });
}

export type PickedPicture = { value: string; name: string };
export type PickerProps = { isOpen: boolean; onClose: () => void; onPicked: (picture: PickedPicture) => void };

/** An image input's context: where pictures are loaded from, and how a new one is uploaded. */
export type PictureContext = PictureApi & {
  connection?: string;
  /** False for members who may not upload to the service: then no picture can be replaced by another. */
  canSend: boolean;
  /** The uploader's own file name of each picture, by the name that is sent. */
  ownNames?: Readonly<Record<string, string>>;
  unsent?: Readonly<Record<string, UnsentPicture>>;
  /** State of the service's file list: whether it is stale, and how to reload it. Without it, the list is used as it is. */
  listing?: { isOld: boolean; readAgain: () => void };
  onNamed: (sentAs: string, ownName: string) => void;
  /** For members who can't see file names: a picture's name is read-only, and the server's files are not offered. */
  isPlain?: boolean;
  /** Replaces the asset picker, for members who may not see the assets. */
  picker?: (props: PickerProps) => ReactNode;
  /** Replaces the connection's files as the place of masks. */
  masks?: MaskTarget;
  /** Resets to no picture or to the default; absent if there is nothing to remove. */
  onRemove?: () => void;
  /** Why a picture was not accepted, where the form has a better message than the failure's own: then "again" is not offered. */
  saysWhy?: (failure: ApiFailure) => string | undefined;
  /** Where a picture is shown from, if not from the service's own files. */
  sourceOf?: (value: string) => string;
};

// How an input that loads a picture names an asset.
// Guarantees: pure; a service that stores by content gets the content's own name, which no later file of the same name can take over. One
// that knows files by place gets the place.

const hash = /^(?:blake3|sha256):([0-9a-f]{64})$/;
const folders = ["output", "temp", "input"] as const;

type NamedAsset = Pick<AssetView, "name" | "hash" | "tags" | "file">;

export function assetValue({ name, hash: storedHash, tags, file }: NamedAsset): string {
  if (file) return toImageValue({ ...file, name: file.filename });
  const content = hash.exec(storedHash ?? "")?.[1];
  if (content !== undefined) return contentName(content, name);
  return toImageValue({ name, type: folders.find((folder) => tags.includes(folder)) });
}

/** The name returned by upload/image: its content hash and the file's extension. */
export function contentName(hash: string, fileName: string): string {
  return `${hash}${extensionOf(fileName)}`;
}

/** The hash, if the picture's name is nothing but a hash. */
export function contentOf(value: string): string | undefined {
  return /^(?:blake3:)?([0-9a-f]{64})(?:\.[A-Za-z0-9]{1,12})?$/.exec(toFileRef(value).filename)?.[1];
}

function extensionOf(name: string): string {
  return /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? "";
}

// Decodes a chosen file to check that it is a picture, before sending.
// Guarantees: never throws; a kind that browsers cannot decode but services may (TIFF, say) passes, and the service decides.

type PictureCheck = "picture" | "not-image" | "broken";
export type Decode = (file: File) => Promise<void>;

const decodable = /^image\/(png|jpeg|webp|gif|bmp|avif)$/;

export async function checkPicture(file: File, decode: Decode = decodeInBrowser): Promise<PictureCheck> {
  const isNamedSo = file.type.startsWith("image/");
  try {
    await decode(file);
    return "picture";
  } catch {
    // The decoder gives no reason; the file's type decides which message is true.
    if (!isNamedSo) return "not-image";
    return decodable.test(file.type) ? "broken" : "picture";
  }
}

async function decodeInBrowser(file: File): Promise<void> {
  const bitmap = await createImageBitmap(file);
  bitmap.close();
}

// The file name of a picture that a workflow names by its content: stored files and past jobs contain the hash alone.
// Guarantees: never throws; undefined if the name is unknown. Requests one byte, as the name is in the headers; if the service serves the
// bytes by their hash, the newest assets are searched once instead.

type Newest = () => Promise<Result<AssetsAnswer, ApiFailure>>;

function createStoredNames(connection: string | undefined, listNewest: Newest): (value: string) => Promise<string | undefined> {
  let newest: ReturnType<Newest> | undefined;
  return async (value) => {
    const content = contentOf(value);
    const nameInInput = content === undefined ? "gone" : await nameBesideBytes(value, connection);
    if (nameInInput === "gone") return undefined;
    if (nameInInput !== undefined && contentOf(nameInInput) === undefined) return nameInInput;
    const list = await (newest ??= listNewest());
    const asset = list.ok ? list.value.assets.map(toAssetView).find(({ hash }) => hash?.endsWith(`:${content}`)) : undefined;
    return asset?.name;
  };
}

async function nameBesideBytes(value: string, connection: string | undefined): Promise<string | "gone" | undefined> {
  const stop = new AbortController();
  try {
    const url = createViewUrl({ ...toFileRef(value), connection });
    const response = await fetch(url, { headers: { range: "bytes=0-0" }, cache: "no-store", signal: stop.signal });
    return response.ok ? readName(response.headers.get("content-disposition") ?? "") : "gone";
  } catch {
    return "gone";
  } finally {
    stop.abort();
  }
}

/** RFC 6266: the exact name takes precedence over the plain one. */
function readName(disposition: string): string | undefined {
  const [, exact] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, plain] = /;\s*filename=(?:"([^"]+)"|([^";\s]+))/i.exec(disposition) ?? [];
  return (exact === undefined ? undefined : decodePercent(exact)) ?? quoted ?? plain;
}
