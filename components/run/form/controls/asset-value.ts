// How an input that loads a picture names an asset.
// Guarantees: pure; a service that stores by content gets the content's own name, which no later file of the same name can take over. One
// that knows files by place gets the place.

import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { type AssetView } from "@/lib/contract/views/asset-view";

const hash = /^(?:blake3|sha256):([0-9a-f]{64})$/;
const folders = ["output", "temp", "input"] as const;

type Named = Pick<AssetView, "name" | "hash" | "tags" | "file">;

export function assetValue({ name, hash: stored, tags, file }: Named): string {
  if (file) return toImageValue({ ...file, name: file.filename });
  const content = hash.exec(stored ?? "")?.[1];
  if (content !== undefined) return contentName(content, name);
  return toImageValue({ name, type: folders.find((folder) => tags.includes(folder)) });
}

/** The name that upload/image answers for a picture: its content hash and the file's extension. */
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
