// Names of a job's input files: the user's in the graph, and generated ones at the runner.

import { extname } from "node:path/posix";
import { isObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { extensionOf } from "../assets/media-type";
import { type NodeLibrary } from "../nodes/definition";
import { mapFileTexts } from "../nodes/needs";

/** `name`: the name in the graph, possibly with an annotation such as " [output]". */
export type Input = { name: string; hash: string; mediaType: string; size: number; path: string };

const annotation = / ?\[(input|output|temp)\]$/;
/** ComfyUI's loaders of 3D models list only the files of this folder. */
const MODEL_FOLDER = "3d";
const modelExtensions = new Set(["glb", "gltf", "obj", "fbx", "stl", "ply", "spz", "splat", "ksplat"]);

const bareName = (name: string) => name.replace(annotation, "");
export const annotationOf = (name: string) => annotation.exec(name)?.[0] ?? "";
export const pathOf = ({ filename, subfolder }: { filename: string; subfolder?: string | undefined }) =>
  subfolder ? `${subfolder}/${filename}` : filename;

/** The input's file at the runner. */
export function remoteFileOf({ hash, mediaType, name }: Input): OutputFile {
  // Models are recognised by file extension: a .gltf is JSON, and an .obj is plain text.
  const ownExtension = extname(bareName(name)).slice(1).toLowerCase();
  const isModel = modelExtensions.has(ownExtension);
  const filename = `${hash}.${isModel ? ownExtension : extensionOf(mediaType, bareName(name))}`;
  return { filename, subfolder: isModel ? MODEL_FOLDER : "", type: annotation.exec(name)?.[1] ?? "input" };
}

/** Puts the user's file names in place of those at the runner, wherever they occur. */
export function withUserNames<T>(value: T, inputs: readonly Input[]): T {
  if (inputs.length === 0) return value;
  const names = inputs.map((input) => [pathOf(remoteFileOf(input)), bareName(input.name)] as const);
  const rename = (text: string) => names.reduce((renamed, [there, name]) => renamed.replaceAll(there, () => name), text);
  const walk = (one: unknown): unknown =>
    typeof one === "string"
      ? rename(one)
      : Array.isArray(one)
        ? one.map(walk)
        : isObject(one)
          ? Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner)]))
          : one;
  return walk(value) as T; // the same shape with other texts
}

/** `names`: the names at the runner, by the user's names. */
export function withRemoteNames(graph: Graph, library: NodeLibrary, names: ReadonlyMap<string, string>): Graph {
  if (names.size === 0) return graph;
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const definition = library.get(node.class_type);
      const rename = (text: string) => names.get(text) ?? text;
      return [id, definition ? { ...node, inputs: mapFileTexts(node, definition, rename) } : node];
    }),
  );
}
