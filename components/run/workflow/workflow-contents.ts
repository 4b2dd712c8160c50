import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, filter, map, object } from "@/lib/contract/json/readers";
import { FILE_NAME, isFileName } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { isMasked, removeMasks } from "@/lib/contract/secrets/secret-texts";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { isDeeperThan } from "@/lib/shared/json-depth";
import { withInput } from "../form/form-model";
import { type OpenWorkflow } from "./opened-workflow";

// File names as written (`%date:yyyy-MM-dd%`), stored in the editor's extra data next to the filled-in graph, so that reopening a job or its
// picture shows the placeholder. Inputs whose value has changed since are not touched. Entries are removed once read, so that they never
// overwrite later edits.

const EXTRA_KEY = "lightdesk";
const MAX_LENGTH = 1_000;
const name = filter(anyText, (text) => text.length <= MAX_LENGTH);
const readWrittenEntries = object({ fileNames: map(object({ written: name, filled: name })) });

/** Adds the names that differ between both graphs to the editor's drawing. */
export function withWrittenNames(drawing: JsonObject | undefined, writtenGraph: Graph, sentGraph: Graph): JsonObject | undefined {
  const names = Object.entries(sentGraph).flatMap(([id, node]) => {
    const text = getOwn(getOwn(writtenGraph, id)?.inputs ?? {}, FILE_NAME);
    const filled = node.inputs[FILE_NAME];
    if (!isFileName(node, FILE_NAME) || typeof text !== "string" || typeof filled !== "string" || text === filled) return [];
    return [[id, { written: text, filled }] as const];
  });
  if (names.length === 0) return drawing;
  return withField(drawing, "extra", withField(asObject(drawing?.extra), EXTRA_KEY, { fileNames: Object.fromEntries(names) }));
}

export function readWrittenNames<T extends { graph: Graph; extraData?: JsonObject }>(file: T): T {
  const drawing = getDrawing(file.extraData);
  const before = asObject(drawing?.extra) ?? {};
  const { [EXTRA_KEY]: ownData, ...extra } = before;
  if (ownData === undefined) return file;
  const graph = Object.entries(readWrittenEntries(ownData)?.fileNames ?? {}).reduce((now, [id, { written, filled }]) => {
    const node = getOwn(now, id);
    // Another program may have changed the name.
    const isUnchanged = node && isFileName(node, FILE_NAME) && getOwn(node.inputs, FILE_NAME) === filled;
    return isUnchanged ? withInput(now, id, FILE_NAME, written) : now;
  }, file.graph);
  const info = asObject(file.extraData?.extra_pnginfo);
  const workflow = withField(drawing, "extra", copySpellings(before, extra));
  return { ...file, graph, extraData: withField(file.extraData, "extra_pnginfo", withField(info, "workflow", workflow)) };
}

function withField(object: JsonObject = {}, key: string, value: unknown): JsonObject {
  return copySpellings(object, { ...object, [key]: value });
}

// A workflow without the keys and tokens in it.

type Parts = { graph: Graph; extraData?: JsonObject };

/**
 * Removes keys and tokens: empties such inputs, removes key-like parts from longer texts, and drops fields of extra_data. If the text does not
 * look like a key, all of it is removed.
 */
export function removeSecrets({ graph, extraData }: Parts, secretPlaces: readonly SecretPlace[]): Parts {
  let [left, extra] = [graph, extraData];
  for (const secretPlace of secretPlaces) {
    if (secretPlace.kind === "input") {
      const node = getOwn(left, secretPlace.node_id);
      const value = node && getOwn(node.inputs, secretPlace.input);
      if (!node || value === undefined) continue;
      left = {
        ...left,
        [secretPlace.node_id]: {
          ...node,
          inputs: copySpellings(node.inputs, { ...node.inputs, [secretPlace.input]: withoutSecret(secretPlace.input, value) }),
        },
      };
    } else if (secretPlace.kind === "extra" && extra) extra = withoutPath(extra, secretPlace.path);
  }
  return { graph: left, ...(extra && { extraData: extra }) };
}

function withoutSecret(name: string, value: unknown): unknown {
  const { [name]: masked } = maskSecrets({ [name]: value });
  return isMasked(masked) ? removeMasks(masked) : "";
}

/** Empties masked texts instead of removing them, since positions in lists matter. */
function withoutPath(value: JsonObject, [name = "", ...rest]: readonly string[]): JsonObject {
  const inner = getOwn(value, name);
  if (inner === undefined) return value;
  if (rest.length > 0 && isObject(inner)) return copySpellings(value, { ...value, [name]: withoutPath(inner, rest) });
  const masked = typeof inner === "string" ? undefined : maskSecrets(inner);
  if (isMasked(masked)) return copySpellings(value, { ...value, [name]: removeMasks(masked) });
  const { [name]: _, ...others } = value;
  return copySpellings(value, others);
}

/** `sentGraph` is dropped, since the workflow differs from the submission. */
export function withoutSecrets(openWorkflow: OpenWorkflow, secretPlaces: readonly SecretPlace[]): OpenWorkflow {
  const remaining = removeSecrets({ graph: openWorkflow.graph, extraData: openWorkflow.extraData }, secretPlaces);
  const extra = readExtra(openWorkflow.advanced?.extra ?? "");
  const writtenFields = extra.ok ? removeSecrets({ graph: {}, extraData: extra.value }, secretPlaces).extraData : undefined;
  const isWritten = writtenFields !== undefined && Object.keys(writtenFields).length > 0;
  const advanced = { ...openWorkflow.advanced, ...(extra.ok && { extra: isWritten ? writeExactJson(writtenFields, 2) : "" }) };
  const isEdited = openWorkflow.isEdited || remaining.graph !== openWorkflow.graph;
  return { ...openWorkflow, ...remaining, advanced, isEdited, leftOut: secretPlaces, sentGraph: undefined };
}

// User-written extra_data, merged over the workflow's own. Never stored, since it may contain keys.

export const extraLimits = { characters: 100_000, depth: 50 } as const;

type ExtraReading = { ok: true; value: JsonObject } | { ok: false; why: "not_json" | "no_object" | "too_large" | "too_deep" };

/** An empty text means no extra data. */
export function readExtra(text: string): ExtraReading {
  if (text.trim() === "") return { ok: true, value: {} };
  if (text.length > extraLimits.characters) return { ok: false, why: "too_large" };
  if (isDeeperThan(text, extraLimits.depth)) return { ok: false, why: "too_deep" };
  const value = parseJson(text);
  if (value === undefined) return { ok: false, why: "not_json" };
  return isObject(value) ? { ok: true, value } : { ok: false, why: "no_object" };
}

/** User-written fields win. extra_pnginfo is merged one level deeper, so that nothing in it is lost. */
export function mergeExtra(drawing: JsonObject | undefined, writtenFile: JsonObject): JsonObject {
  const info = mergeFields(asObject(drawing?.extra_pnginfo) ?? {}, asObject(writtenFile.extra_pnginfo) ?? {});
  const extra = mergeFields(drawing ?? {}, writtenFile);
  return Object.keys(info).length > 0 ? copySpellings(extra, { ...extra, extra_pnginfo: info }) : extra;
}

function mergeFields(drawing: JsonObject, writtenFile: JsonObject): JsonObject {
  return copySpellings(drawing, copySpellings(writtenFile, { ...drawing, ...writtenFile }));
}

/** Without this, another workflow's drawing would be sent with every run. */
export function withoutDrawing(extraData: JsonObject | undefined): JsonObject {
  const info = asObject(extraData?.extra_pnginfo) ?? {};
  const { workflow: _other, ...rest } = info;
  return copySpellings(extraData ?? {}, { ...extraData, extra_pnginfo: copySpellings(info, rest) });
}

export function countDrawnNodes(drawing: JsonObject | undefined): number {
  return Array.isArray(drawing?.nodes) ? drawing.nodes.length : 0;
}
