// The extension of an asset's name, if it names a format. "Sofa no.2" and "Portrait of J.Doe" have none:
// digits alone are no extension, and an unknown extension does not override a clear media type.

import { type AssetView } from "@/lib/contract/views/asset-view";
import { kindOfName, mediaKindOf } from "@/lib/contract/views/outputs-view";

const plain = new Set(["image", "video", "audio", "3d"]);

export function extensionOf({ name, mimeType = "" }: Pick<AssetView, "name" | "mimeType">): string | undefined {
  const typeKind = mediaKindOf({ names: [], types: [mimeType] });
  const isPlain = plain.has(typeKind) && !/\/(x-|vnd\.)/i.test(mimeType);
  if (isPlain && kindOfName(name) !== typeKind) return undefined;
  return /\.(?=\d*[a-z])([a-z0-9]{1,11})$/i.exec(name)?.[1]?.toUpperCase();
}
