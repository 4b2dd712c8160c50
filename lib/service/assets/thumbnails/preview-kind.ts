// The kinds of previews: the picture itself, a frame, a waveform, or only an icon that says what kind of file it is.

import { isRaster } from "../media-type";

export type PreviewKind = "image" | "video" | "audio" | "model" | "other";

const meshes = /^(glb|gltf|obj|fbx|stl|ply|usdz)$/;

/** `fileName`: the content's own name, `<hash>.<ext>`. */
export function previewKindOf(mediaType: string, fileName: string): PreviewKind {
  if (isRaster(mediaType)) return "image";
  if (mediaType.startsWith("video/")) return "video";
  if (mediaType.startsWith("audio/")) return "audio";
  return mediaType.startsWith("model/") || meshes.test(fileName.split(".").at(-1) ?? "") ? "model" : "other";
}
