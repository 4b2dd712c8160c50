import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, filter, map, object } from "@/lib/contract/json/readers";
import { FILENAME_INPUT, isFileName } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { type SecretLocation } from "@/lib/contract/secrets/secret-locations";
import { isMasked, removeMasks } from "@/lib/contract/secrets/secret-texts";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { isDeeperThan } from "@/lib/shared/json-depth";
import { withInput } from "../form/form-model";
import { type OpenWorkflow } from "./opened-workflow";

// Stores file names as written (`%date:yyyy-MM-dd%`) in the editor's extra data, next to the filled-in graph. Reopening a job or its
// picture then shows the placeholder. Inputs that have changed since are not touched. Entries are removed once read, so that they never
// overwrite later edits.

const EXTRA_KEY = "lightdesk";
const MAX_NAME_LENGTH = 1_000;
const nameReader = filter(anyText, (text) => text.length <= MAX_NAME_LENGTH);
const readWrittenEntries = object({ fileNames: map(object({ written: nameReader, filled: nameReader })) });

/** Adds the names that differ between both graphs to the editor's drawing. */
export function withWrittenNames(drawing: JsonObject | undefined, writtenGraph: Graph, sentGraph: Graph): JsonObject | undefined {
  const names = Object.entries(sentGraph).flatMap(([id, node]) => {
    const text = getOwn(getOwn(writtenGraph, id)?.inputs ?? {}, FILENAME_INPUT);
    const filled = node.inputs[FILENAME_INPUT];
    if (!isFileName(node, FILENAME_INPUT) || typeof text !== "string" || typeof filled !== "string" || text === filled) return [];
    return [[id, { written: text, filled }] as const];
  });
  if (names.length === 0) return drawing;
  return withField(drawing, "extra", withField(asObject(drawing?.extra), EXTRA_KEY, { fileNames: Object.fromEntries(names) }));
}

export function restoreWrittenNames<T extends { graph: Graph; extraData?: JsonObject }>(file: T): T {
  const drawing = getDrawing(file.extraData);
  const drawingExtra = asObject(drawing?.extra) ?? {};
  const { [EXTRA_KEY]: storedData, ...extra } = drawingExtra;
  if (storedData === undefined) return file;
  const graph = Object.entries(readWrittenEntries(storedData)?.fileNames ?? {}).reduce((currentGraph, [id, { written, filled }]) => {
    const node = getOwn(currentGraph, id);
    // Another program may have changed the name.
    const isUnchanged = node && isFileName(node, FILENAME_INPUT) && getOwn(node.inputs, FILENAME_INPUT) === filled;
    return isUnchanged ? withInput(currentGraph, id, FILENAME_INPUT, written) : currentGraph;
  }, file.graph);
  const info = asObject(file.extraData?.extra_pnginfo);
  const workflow = withField(drawing, "extra", copySpellings(drawingExtra, extra));
  return { ...file, graph, extraData: withField(file.extraData, "extra_pnginfo", withField(info, "workflow", workflow)) };
}

function withField(object: JsonObject = {}, key: string, value: unknown): JsonObject {
  return copySpellings(object, { ...object, [key]: value });
}

// Removes keys and tokens from a workflow.

type WorkflowData = { graph: Graph; extraData?: JsonObject };

/**
 * Removes keys and tokens: empties such inputs, removes key-like parts from longer texts, and drops fields of extra_data. If the text does not
 * look like a key, all of it is removed.
 */
export function removeSecrets({ graph, extraData }: WorkflowData, secretLocations: readonly SecretLocation[]): WorkflowData {
  let [remainingGraph, remainingExtra] = [graph, extraData];
  for (const location of secretLocations) {
    if (location.kind === "input") {
      const node = getOwn(remainingGraph, location.node_id);
      const value = node && getOwn(node.inputs, location.input);
      if (!node || value === undefined) continue;
      remainingGraph = {
        ...remainingGraph,
        [location.node_id]: {
          ...node,
          inputs: copySpellings(node.inputs, { ...node.inputs, [location.input]: withoutSecret(location.input, value) }),
        },
      };
    } else if (location.kind === "extra" && remainingExtra) remainingExtra = withoutPath(remainingExtra, location.path);
  }
  return { graph: remainingGraph, ...(remainingExtra && { extraData: remainingExtra }) };
}

function withoutSecret(name: string, value: unknown): unknown {
  const { [name]: maskedValue } = maskSecrets({ [name]: value });
  return isMasked(maskedValue) ? removeMasks(maskedValue) : "";
}

/** Empties masked texts instead of removing them, since positions in lists matter. */
function withoutPath(value: JsonObject, [name = "", ...childPath]: readonly string[]): JsonObject {
  const field = getOwn(value, name);
  if (field === undefined) return value;
  if (childPath.length > 0 && isObject(field)) return copySpellings(value, { ...value, [name]: withoutPath(field, childPath) });
  const maskedField = typeof field === "string" ? undefined : maskSecrets(field);
  if (isMasked(maskedField)) return copySpellings(value, { ...value, [name]: removeMasks(maskedField) });
  const { [name]: _, ...otherFields } = value;
  return copySpellings(value, otherFields);
}

/** `sentGraph` is dropped, since the workflow differs from the submission. */
export function withoutSecrets(openWorkflow: OpenWorkflow, secretLocations: readonly SecretLocation[]): OpenWorkflow {
  const cleanedWorkflow = removeSecrets({ graph: openWorkflow.graph, extraData: openWorkflow.extraData }, secretLocations);
  const extra = parseExtraData(openWorkflow.advanced?.extra ?? "");
  const writtenFields = extra.ok ? removeSecrets({ graph: {}, extraData: extra.value }, secretLocations).extraData : undefined;
  const hasFields = writtenFields !== undefined && Object.keys(writtenFields).length > 0;
  const advanced = { ...openWorkflow.advanced, ...(extra.ok && { extra: hasFields ? writeExactJson(writtenFields, 2) : "" }) };
  const isEdited = openWorkflow.isEdited || cleanedWorkflow.graph !== openWorkflow.graph;
  return { ...openWorkflow, ...cleanedWorkflow, advanced, isEdited, removedSecrets: secretLocations, sentGraph: undefined };
}

// User-written extra_data, merged over the workflow's own. Never stored, since it may contain keys.

export const extraLimits = { characters: 100_000, depth: 50 } as const;

type ExtraResult = { ok: true; value: JsonObject } | { ok: false; code: "not_json" | "no_object" | "too_large" | "too_deep" };

/** An empty text means no extra data. */
export function parseExtraData(text: string): ExtraResult {
  if (text.trim() === "") return { ok: true, value: {} };
  if (text.length > extraLimits.characters) return { ok: false, code: "too_large" };
  if (isDeeperThan(text, extraLimits.depth)) return { ok: false, code: "too_deep" };
  const value = parseJson(text);
  if (value === undefined) return { ok: false, code: "not_json" };
  return isObject(value) ? { ok: true, value } : { ok: false, code: "no_object" };
}

/** User-written fields win. extra_pnginfo is merged one level deeper, so that nothing in it is lost. */
export function mergeExtraData(extraData: JsonObject | undefined, userData: JsonObject): JsonObject {
  const info = mergeFields(asObject(extraData?.extra_pnginfo) ?? {}, asObject(userData.extra_pnginfo) ?? {});
  const extra = mergeFields(extraData ?? {}, userData);
  return Object.keys(info).length > 0 ? copySpellings(extra, { ...extra, extra_pnginfo: info }) : extra;
}

function mergeFields(base: JsonObject, overrides: JsonObject): JsonObject {
  return copySpellings(base, copySpellings(overrides, { ...base, ...overrides }));
}

/** Removes the drawing of another workflow, which would be sent with every run. */
export function withoutDrawing(extraData: JsonObject | undefined): JsonObject {
  const info = asObject(extraData?.extra_pnginfo) ?? {};
  const { workflow: _drawing, ...otherInfo } = info;
  return copySpellings(extraData ?? {}, { ...extraData, extra_pnginfo: copySpellings(info, otherInfo) });
}

export function countDrawnNodes(drawing: JsonObject | undefined): number {
  return Array.isArray(drawing?.nodes) ? drawing.nodes.length : 0;
}
