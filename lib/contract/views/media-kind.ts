// The kind of a file, decided by its extension first, then by its stated type, then by the outputs key.
// Videos are under `images`, animated pictures under `gifs`: the key alone would be wrong.
// Free of zod: browsers load it with the first page.

export const mediaKinds = ["image", "video", "audio", "text", "3d", "file", "json"] as const;
export type MediaKind = (typeof mediaKinds)[number];
export type FileKind = Exclude<MediaKind, "json">;

const extensions: Readonly<Record<Exclude<FileKind, "file">, readonly string[]>> = {
  image: ["png", "jpg", "jpeg", "webp", "gif", "apng", "avif", "bmp", "tif", "tiff", "svg", "heic", "jxl", "exr", "hdr"],
  video: ["mp4", "webm", "mov", "mkv", "avi", "m4v", "ogv", "mpg", "mpeg"],
  audio: ["mp3", "wav", "flac", "ogg", "opus", "m4a", "aac", "aiff"],
  text: ["txt", "md", "json", "csv", "srt", "vtt", "yaml", "yml", "log"],
  "3d": ["obj", "fbx", "gltf", "glb", "usdz", "stl", "ply"],
};
const kindOfExtension = new Map(
  (["image", "video", "audio", "text", "3d"] as const).flatMap((kind) => extensions[kind].map((extension) => [extension, kind] as const)),
);

const kindOfKey = new Map<string, FileKind>([
  ["images", "image"],
  ["image", "image"],
  ["gifs", "image"],
  ["video", "video"],
  ["videos", "video"],
  ["audio", "audio"],
  ["audios", "audio"],
  ["3d", "3d"],
  ["text", "text"],
]);

/** The kind that a name's extension says; undefined if the extension is not known. */
export function kindOfName(name: string): FileKind | undefined {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? undefined : kindOfExtension.get(name.slice(dot + 1).toLowerCase());
}

const carrier = /\.(json|a?png|webp|jpe?g|svg|mp4|m4[av]|mov|webm|mkv|flac|mp3|og[ga]|opus|glb)$/i;

/** A workflow file, or a kind of file that may carry a workflow beside its picture or sound. */
export function mayCarryWorkflow(name: string): boolean {
  return carrier.test(name);
}

/** `types`: media types or kinds as services send them ("video/h264-mp4", "image/png", "3d"), the most telling first. */
export function mediaKindOf(file: {
  names: readonly (string | undefined)[];
  types?: readonly (string | undefined)[];
  key?: string;
}): FileKind {
  for (const name of file.names) {
    const kind = name === undefined ? undefined : kindOfName(name);
    if (kind) return kind;
  }
  for (const type of [...(file.types ?? []), file.key]) {
    const kind = type === undefined ? undefined : kindOfType(type.toLowerCase());
    if (kind) return kind;
  }
  return "file";
}

function kindOfType(type: string): FileKind | undefined {
  const family = type.split("/")[0] ?? "";
  if (type.includes("/")) return family === "model" ? "3d" : kindOfFamily(family);
  return kindOfKey.get(type);
}

function kindOfFamily(family: string): FileKind | undefined {
  return family === "image" || family === "video" || family === "audio" || family === "text" ? family : undefined;
}
