import { asNumber, asObject, asText, isObject } from "../json/json";
import { type Outputs, type PreviewOutput } from "../schemas/execution";

export const mediaKinds = ["image", "video", "audio", "text", "3d", "file", "json"] as const;
type MediaKind = (typeof mediaKinds)[number];
export type FileKind = Exclude<MediaKind, "json">;

const extensions: Readonly<Record<Exclude<FileKind, "file">, readonly string[]>> = {
  image: ["png", "jpg", "jpeg", "webp", "gif", "apng", "avif", "bmp", "tif", "tiff", "svg", "heic", "jxl", "exr", "hdr"],
  video: ["mp4", "webm", "mov", "mkv", "avi", "m4v", "ogv", "mpg", "mpeg"],
  audio: ["mp3", "wav", "flac", "ogg", "opus", "m4a", "aac", "aiff"],
  text: ["txt", "md", "json", "csv", "srt", "vtt", "yaml", "yml", "log"],
  "3d": ["obj", "fbx", "gltf", "glb", "usdz", "stl", "ply"],
};
const kindByExtension = new Map(
  (["image", "video", "audio", "text", "3d"] as const).flatMap((kind) => extensions[kind].map((extension) => [extension, kind] as const)),
);

const kindByKey = new Map<string, FileKind>([
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

export function getKindByName(name: string): FileKind | undefined {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? undefined : kindByExtension.get(name.slice(dot + 1).toLowerCase());
}

const workflowFilePattern = /\.(json|a?png|webp|jpe?g|svg|mp4|m4[av]|mov|webm|mkv|flac|mp3|og[ga]|opus|glb)$/i;

/** A workflow file, or a file type that may contain a workflow as metadata. */
export function canContainWorkflow(name: string): boolean {
  return workflowFilePattern.test(name);
}

/** `types`: media types or kinds as sent by services ("video/h264-mp4", "image/png", "3d"), most specific first. */
export function getMediaKind(file: {
  names: readonly (string | undefined)[];
  types?: readonly (string | undefined)[];
  key?: string;
}): FileKind {
  for (const name of file.names) {
    const kind = name === undefined ? undefined : getKindByName(name);
    if (kind) return kind;
  }
  for (const type of [...(file.types ?? []), file.key]) {
    const kind = type === undefined ? undefined : getKindByType(type.toLowerCase());
    if (kind) return kind;
  }
  return "file";
}

function getKindByType(type: string): FileKind | undefined {
  const family = type.split("/")[0] ?? "";
  if (type.includes("/")) return family === "model" ? "3d" : getKindByFamily(family);
  return kindByKey.get(type);
}

function getKindByFamily(family: string): FileKind | undefined {
  return family === "image" || family === "video" || family === "audio" || family === "text" ? family : undefined;
}

export type OutputFile = { filename: string; subfolder: string; type: string };

/** Exactly one of `file`, `text` (a raw text) and `json` (unknown structure) is present. */
export type OutputView = {
  nodeId: string;
  key: string;
  index: number;
  kind: MediaKind;
  /** The display name, or the file's name. Empty for raw text and JSON. */
  name: string;
  file?: OutputFile;
  text?: string;
  truncated?: boolean;
  json?: unknown;
  animated: boolean;
  /** A preview that the service may delete. */
  temporary: boolean;
  format?: string;
  frameRate?: number;
  assetId?: string;
};

export function listOutputs(outputs: Outputs | null | undefined): OutputView[] {
  const views: OutputView[] = [];
  for (const [nodeId, node] of Object.entries(isObject(outputs) ? outputs : {})) {
    for (const [key, value] of Object.entries(isObject(node) ? node : {})) {
      if (views.length >= MAX_OUTPUTS) return views;
      if (key !== "animated") views.push(...listKeyOutputs({ nodeId, key, value, flags: asObject(node)?.animated }));
    }
  }
  return views;
}

/** More than any real job has. A hostile response could have hundreds of thousands. */
const MAX_OUTPUTS = 20_000;

export function toPreviewView(preview: PreviewOutput | null | undefined): OutputView | undefined {
  if (!isObject(preview)) return undefined;
  const location = { nodeId: asText(preview.nodeId) ?? "", key: asText(preview.mediaType) ?? "images", index: 0 };
  const content = typeof preview.content === "string" ? preview.content : undefined;
  if (asText(preview.filename) === undefined && content !== undefined) {
    return { ...createTextView(location, content), ...(preview.truncated === true && { truncated: true }) };
  }
  return toFileView(location, preview, false);
}

type OutputLocation = { nodeId: string; key: string; index: number };

function listKeyOutputs({ nodeId, key, value, flags }: { nodeId: string; key: string; value: unknown; flags: unknown }): OutputView[] {
  const location = { nodeId, key, index: 0 };
  if (!Array.isArray(value)) return toViews(location, value, false);
  const hasItems = value.some((item) => typeof item === "string" || (isObject(item) && asText(item.filename) !== undefined));
  if (!hasItems) return value.every((item) => item === null) ? [] : [createJsonView(location, value)];
  return value.slice(0, MAX_OUTPUTS).flatMap((item: unknown, index) => toViews({ nodeId, key, index }, item, isAnimated(flags, index)));
}

function toViews(location: OutputLocation, item: unknown, animated: boolean): OutputView[] {
  if (item === null || item === undefined) return [];
  if (typeof item === "string") return [isFileName(location.key, item) ? toNamedFileView(location, item) : createTextView(location, item)];
  const file = isObject(item) ? toFileView(location, item, animated) : undefined;
  return [file ?? createJsonView(location, item)];
}

function isAnimated(flags: unknown, index: number): boolean {
  return Array.isArray(flags) && (flags[index] ?? (flags.length === 1 ? flags[0] : false)) === true;
}

/** A 3d path is a file under every key except `text`. Other file names are files only under keys for files. */
function isFileName(key: string, text: string): boolean {
  if (key === "text" || text.length > 1000 || /[\r\n]/.test(text)) return false;
  const kind = getKindByName(text);
  return kind === "3d" || (kind !== undefined && /^(images?|gifs|videos?|audios?|3d|files)$/.test(key));
}

function toNamedFileView(location: OutputLocation, filename: string): OutputView {
  return createFileView(
    location,
    { filename, subfolder: "", type: "output" },
    getMediaKind({ names: [filename], key: location.key }),
    filename,
  );
}

function toFileView(location: OutputLocation, item: Record<string, unknown>, animated: boolean): OutputView | undefined {
  const filename = asText(item.filename);
  if (filename === undefined) return undefined;
  const displayName = asText(item.display_name);
  const format = asText(item.format);
  const kind = getMediaKind({
    names: [filename, displayName],
    types: [format, asText(item.mime_type), asText(item.mediaType)],
    key: location.key,
  });
  const frameRate = asNumber(item.frame_rate);
  const assetId = asText(item.asset_id) ?? asText(item.id);
  return {
    ...createFileView(
      location,
      { filename, subfolder: asText(item.subfolder) ?? "", type: asText(item.type) ?? "output" },
      kind,
      displayName ?? filename,
    ),
    animated,
    ...(format !== undefined && { format }),
    ...(frameRate !== undefined && { frameRate }),
    ...(assetId !== undefined && { assetId }),
  };
}

function createFileView(location: OutputLocation, file: OutputFile, kind: FileKind, name: string): OutputView {
  return { ...location, kind, name, file, animated: false, temporary: file.type === "temp" };
}

function createTextView(location: OutputLocation, text: string): OutputView {
  return { ...location, kind: "text", name: "", text, animated: false, temporary: false };
}

function createJsonView(location: OutputLocation, json: unknown): OutputView {
  return { ...location, kind: "json", name: "", json, animated: false, temporary: false };
}
