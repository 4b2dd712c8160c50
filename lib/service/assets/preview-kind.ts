// What a preview of bytes can be: a picture of its own, a frame, a waveform, or only a sign that says what kind of file this is.

export type PreviewKind = "image" | "video" | "audio" | "model" | "other";

/** What the image library decodes; any other picture is a file like any other. */
const pictures = new Set(["image/png", "image/apng", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/tiff"]);
const meshes = /^(glb|gltf|obj|fbx|stl|ply|usdz)$/;

/** `fileName`: the content's own name, `<hash>.<ext>`. */
export function previewKindOf(mediaType: string, fileName: string): PreviewKind {
  if (pictures.has(mediaType)) return "image";
  if (mediaType.startsWith("video/")) return "video";
  if (mediaType.startsWith("audio/")) return "audio";
  return mediaType.startsWith("model/") || meshes.test(fileName.split(".").at(-1) ?? "") ? "model" : "other";
}
