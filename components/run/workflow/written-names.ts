// File names as they were written (`%date:yyyy-MM-dd%`), stored beside the graph in which they are filled in: reopening a past job or
// its picture shows the placeholder, not the date of that run. They are stored where the family's editors keep their own data.
// Guarantees: pure; changes no other input, and none whose value differs from the one that was filled in; entries are removed once read, so
// that they never overwrite what is typed later.

import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { type JsonObject, objectOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { anyText, map, object, where } from "@/lib/contract/json/readers";
import { FILE_NAME, isFileName } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";
import { withInput } from "../form/form-model";

const OURS = "lightdesk";
const LONGEST = 1_000;
const name = where(anyText, (text) => text.length <= LONGEST);
const readOurs = object({ fileNames: map(object({ written: name, filled: name })) });

/** The editor's drawing, with the names that differ between `sent` and `written`. */
export function withWrittenNames(drawing: JsonObject | undefined, written: Graph, sent: Graph): JsonObject | undefined {
  const names = Object.entries(sent).flatMap(([id, node]) => {
    const text = own(own(written, id)?.inputs ?? {}, FILE_NAME);
    const filled = node.inputs[FILE_NAME];
    if (!isFileName(node, FILE_NAME) || typeof text !== "string" || typeof filled !== "string" || text === filled) return [];
    return [[id, { written: text, filled }] as const];
  });
  if (names.length === 0) return drawing;
  return withField(drawing, "extra", withField(objectOf(drawing?.extra), OURS, { fileNames: Object.fromEntries(names) }));
}

export function readWrittenNames<T extends { graph: Graph; extraData?: JsonObject }>(file: T): T {
  const drawing = drawingIn(file.extraData);
  const before = objectOf(drawing?.extra) ?? {};
  const { [OURS]: ours, ...extra } = before;
  if (ours === undefined) return file;
  const graph = Object.entries(readOurs(ours)?.fileNames ?? {}).reduce((now, [id, { written, filled }]) => {
    const node = own(now, id);
    // Another program may have kept the drawing and changed the name since.
    const isOne = node && isFileName(node, FILE_NAME) && own(node.inputs, FILE_NAME) === filled;
    return isOne ? withInput(now, id, FILE_NAME, written) : now;
  }, file.graph);
  const info = objectOf(file.extraData?.extra_pnginfo);
  const workflow = withField(drawing, "extra", withSpellingsOf(before, extra));
  return { ...file, graph, extraData: withField(file.extraData, "extra_pnginfo", withField(info, "workflow", workflow)) };
}

function withField(object: JsonObject = {}, key: string, value: unknown): JsonObject {
  return withSpellingsOf(object, { ...object, [key]: value });
}
