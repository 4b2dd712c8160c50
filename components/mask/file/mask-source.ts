// The picture that a mask is drawn for, and the names under which a service may know it.
// Guarantees: pure; the most reliable name comes first. It is sent to POST /api/upload/mask as original_ref.

import { type FileName, viewUrl } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { textOf } from "@/lib/contract/json/json";
import { type AssetView, fileOfAsset } from "@/lib/contract/views/asset-view";

/** Where pictures are and masks are saved, if not among a connection's files. Such a place keeps no layers beside its pictures. */
export type MaskPlace = { urlOf: (file: FileName) => string; saveAt: `/${string}` };

export type MaskSource = {
  /** The same for the same picture, so that an unsaved drawing is found again. */
  key: string;
  title: string;
  files: readonly FileName[];
  connection?: string;
  place?: MaskPlace;
  /** What is known before anything is loaded. */
  known: {
    bytes?: number;
    width?: number;
    height?: number;
    isPicture?: boolean;
    /** What an earlier mask was drawn over. */ original?: string;
  };
  /** The service applies masks to an original's pixels as stored, regardless of the camera's rotation. */
  keepsPixels?: boolean;
  /** For the preview, if the service does not hand out files. */
  assetId?: string;
};

export function sourceOfAsset(asset: AssetView, connection?: string, keepsPixels = false): MaskSource {
  const { type } = fileOfAsset({ ...asset, file: undefined });
  // The plain name comes last, as another file may have it.
  const names = [asset.hash, asset.name].filter((one) => one !== undefined);
  const { sizeBytes, width, height, kind, metadata } = asset;
  return {
    key: `${connection ?? ""} asset ${asset.id}`,
    title: asset.name,
    files: [...(asset.file ? [asset.file] : []), ...names.map((filename) => ({ filename, subfolder: "", type }))],
    connection,
    known: {
      bytes: sizeBytes,
      width,
      height,
      isPicture: kind === "image" && !/\.svg$/i.test(asset.name),
      original: textOf(metadata.original_hash),
    },
    keepsPixels,
    assetId: asset.id,
  };
}

export function sourceOfFile(file: Required<FileName>, title: string, connection?: string, keepsPixels = false): MaskSource {
  const { filename, subfolder, type } = file;
  return { key: `${connection ?? ""} file ${type} ${subfolder}/${filename}`, title, files: [file], connection, keepsPixels, known: {} };
}

/** The address as a page requests it, with a query. */
export function addressOf({ connection, place }: Pick<MaskSource, "connection" | "place">, file: FileName): string {
  return place ? place.urlOf(file) : viewUrl({ ...file, connection });
}

/** Only known fields are sent; some services require a subfolder, even an empty one. */
export function originalRef({ filename, subfolder = "", type }: FileName): string {
  return writeExactJson({ filename, subfolder, ...(type && { type }) });
}
