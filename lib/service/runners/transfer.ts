// Uploads input files to a runner under generated names, and downloads outputs.

import { openAsBlob } from "node:fs";
import { extname } from "node:path/posix";
import { FormData } from "undici";
import { isObject, textOf } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { pictureSizeOf } from "@/lib/shared/picture-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { extensionOf } from "../assets/media-type";
import { type StagedFile, stageStream } from "../assets/staged-file";
import { type NodeLibrary } from "../nodes/definition";
import { mapFileTexts } from "../nodes/needs";
import { asRefusal, asStorageFailure } from "../service-error";
import { askJson, type ExchangeFailure, nonsense, openFile } from "./speak";

/** `name`: the name in the graph, possibly with an annotation such as " [output]". */
export type Input = { name: string; hash: string; mediaType: string; size: number; path: string };

const annotation = / ?\[(input|output|temp)\]$/;
/** ComfyUI's loaders of 3D models list only the files of this folder. */
const MODEL_FOLDER = "3d";
const modelExtensions = new Set(["glb", "gltf", "obj", "fbx", "stl", "ply", "spz", "splat", "ksplat"]);

const bareName = (name: string) => name.replace(annotation, "");

/** Without the annotation of `name`. */
function nameThere(input: Input): string {
  const { filename, subfolder } = fileOf(input);
  return subfolder ? `${subfolder}/${filename}` : filename;
}

function fileOf({ hash, mediaType, name }: Input): FileThere {
  // Models are recognised by file extension: a .gltf is JSON, and an .obj is plain text.
  const ownExtension = extname(bareName(name)).slice(1).toLowerCase();
  const isModel = modelExtensions.has(ownExtension);
  const filename = `${hash}.${isModel ? ownExtension : extensionOf(mediaType, bareName(name))}`;
  return { filename, subfolder: isModel ? MODEL_FOLDER : "", type: annotation.exec(name)?.[1] ?? "input" };
}

/** Sends the input if it is missing there. Returns the name that its node is given. */
export async function bring(address: string, input: Input, signal: AbortSignal): Promise<Result<string, ExchangeFailure>> {
  const remoteFile = fileOf(input);
  const [suffix = ""] = annotation.exec(input.name) ?? [];
  const existing = await openFile(address, viewPath(remoteFile), {
    signal,
    headers: { range: "bytes=0-0" },
  });
  if (existing.ok) {
    existing.value.bytes.destroy();
    const whole = existing.value.range === undefined ? existing.value.size : Number(/\/(\d+)$/.exec(existing.value.range)?.[1]);
    if (whole === input.size) return ok(nameThere(input) + suffix);
  }
  const form = new FormData();
  form.append("image", await openAsBlob(input.path), remoteFile.filename);
  form.append("type", remoteFile.type);
  if (remoteFile.subfolder) form.append("subfolder", remoteFile.subfolder);
  form.append("overwrite", "true");
  const sent = await askJson(address, "/upload/image", { method: "POST", form, signal });
  if (!sent.ok) return sent;
  const called = isObject(sent.value) ? textOf(sent.value.name) : undefined;
  const folder = isObject(sent.value) ? textOf(sent.value.subfolder) : undefined;
  return called === undefined
    ? failed(nonsense("It does not say what an uploaded file is called."))
    : ok((folder ? `${folder}/${called}` : called) + suffix);
}

export type FileThere = { filename: string; subfolder: string; type: string };

function viewPath({ filename, subfolder, type }: FileThere): string {
  return `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}`;
}

/** A transfer may pause for seconds, but a runner that sends one byte now and then would never end. */
const SLOW_MS = 60_000;
const MIN_BYTES_PER_MS = 16;

export type FetchedFile = StagedFile & { width?: number; height?: number };
/** `isTooLarge`: larger than `maxBytes`. */
type FetchFailure = ExchangeFailure & { isTooLarge?: true };
type FetchOptions = { folder: string; maxBytes: number; now: () => number; signal: AbortSignal };

/** Complete, or a failure: truncated files are refused. After a failure, nothing of the file is left. */
export async function fetchOutput(
  address: string,
  file: FileThere,
  { folder, maxBytes, now, signal }: FetchOptions,
): Promise<Result<FetchedFile, FetchFailure>> {
  const opened = await openFile(address, viewPath(file), { signal });
  if (!opened.ok) return opened;
  const { bytes, size } = opened.value;
  const tooLarge: FetchFailure = { ...nonsense(`Its file ${file.filename} has more than ${maxBytes} bytes.`), isTooLarge: true };
  if (size !== undefined && size > maxBytes) {
    bytes.destroy();
    return failed(tooLarge);
  }
  const head: Uint8Array[] = [];
  let length = 0;
  let isSlow = false;
  const beganMs = now();
  try {
    const staged = await stageStream(passing(bytes), { folder, maxBytes });
    if (isSlow || (size !== undefined && staged.size !== size)) {
      await staged.dispose();
      const failure = nonsense(`Its file ${file.filename} came with ${staged.size} of ${size ?? "unknown"} bytes.`);
      return failed(isSlow ? { ...failure, code: "timeout", message: `It sends its file ${file.filename} too slowly.` } : failure);
    }
    const seen = staged.mediaType.startsWith("image/") ? await pictureSizeOf(Buffer.concat(head)) : undefined;
    return ok({ ...staged, ...seen });
  } catch (error) {
    if (asRefusal(error)?.code === "FILE_TOO_LARGE") return failed(tooLarge);
    const failure = nonsense(`Its file ${file.filename} could not be fetched: ${error instanceof Error ? error.message : "unknown"}`);
    return failed(asStorageFailure(error) ? failure : { ...failure, code: "not_reachable" });
  }

  /** The first bytes tell how large a picture is. */
  async function* passing(source: AsyncIterable<unknown>): AsyncIterable<Uint8Array> {
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array)) continue;
      if (length < HEAD_BYTES) head.push(chunk);
      length += chunk.byteLength;
      isSlow = now() - beganMs > SLOW_MS + length / MIN_BYTES_PER_MS;
      if (isSlow) return;
      yield chunk;
    }
  }
}

const HEAD_BYTES = 64 * 1024;

/** The user's file names by their names at the runner, both without annotations. */
export function userNames(inputs: readonly Input[]): Map<string, string> {
  return new Map(inputs.map((input) => [nameThere(input), bareName(input.name)]));
}

/** `names`: the user's names, by the names at the runner. */
export function asKnown<T>(value: T, names: ReadonlyMap<string, string>): T {
  const rename = (text: string) => [...names].reduce((renamed, [there, name]) => renamed.replaceAll(there, () => name), text);
  const walk = (one: unknown): unknown =>
    typeof one === "string"
      ? rename(one)
      : Array.isArray(one)
        ? one.map(walk)
        : isObject(one)
          ? Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner)]))
          : one;
  return names.size === 0 ? value : (walk(value) as T); // the same shape with other texts
}

/** `called`: the names at the runner, by the user's names. */
export function withNames(graph: Graph, library: NodeLibrary, called: ReadonlyMap<string, string>): Graph {
  if (called.size === 0) return graph;
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const definition = library.get(node.class_type);
      const rename = (text: string) => called.get(text) ?? text;
      return [id, definition ? { ...node, inputs: mapFileTexts(node, definition, rename) } : node];
    }),
  );
}
