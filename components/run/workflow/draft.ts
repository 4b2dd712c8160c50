// The open workflow and typed values, stored in this tab's sessionStorage so that a reload loses nothing.
// Guarantees: never throws; bounded; stored data is parsed like a file; another member's draft is deleted. Contains no pictures, only names.
// Must never be read during hydration, since the server has no draft.

import { type BrowserStorage, persisted } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, anything, list, map, object, oneOf, type Reader, text, withFallback } from "@/lib/contract/json/readers";
import { readSecretPlaces } from "@/lib/contract/secrets/secret-places";
import { openWorkflow } from "./open-workflow";
import { type BothFormats, type Draft, type Edit, type OpenWorkflow } from "./opened-workflow";

export const MAX_DRAFT_CHARACTERS = 1_000_000;
export const draftOptions = { maxCharacters: MAX_DRAFT_CHARACTERS, parse: parseJson };
const workflowFacts = object({}, { name: anyText, workflowId: text, leavesOut: readSecretPlaces, fromJob: text });
const bothFormats: Reader<BothFormats> = object({ text, facts: workflowFacts, shown: oneOf(["run", "drawing"]) }, { fileName: anyText });
const note = object(
  {
    memberId: text,
    workflow: anything,
    name: withFallback(text, ""),
    inputs: withFallback(map(map(anything)), {}),
    ownNames: withFallback(map(anyText), {}),
  },
  { workflowId: text, stored: text, fromJob: text, readFor: text, rawTexts: list(anyText), both: bothFormats },
);
const draftNote = (storage: BrowserStorage) => persisted("lightdesk.run", note, storage, draftOptions);

/** False if the draft could not be stored. No older draft remains, and the page warns on leaving. */
export function storeDraft(storage: BrowserStorage, memberId: string, openWorkflow: OpenWorkflow): boolean {
  const { name, workflowId, storedPath, fromJob, readFor, original, extraData, ownNames, rawTexts, both } = openWorkflow;
  const workflow = { prompt: original, extra_data: extraData };
  const newNote = {
    memberId,
    name,
    workflowId,
    stored: storedPath,
    fromJob,
    readFor,
    rawTexts,
    workflow,
    inputs: changedInputs(openWorkflow),
    ownNames: ownNames ?? {},
  };
  const persisted = draftNote(storage);
  // The other format contains the whole file again, so a draft that is too large is stored without it.
  if ((both && persisted.set({ ...newNote, both })) || persisted.set(newNote)) return true;
  deleteDraft(storage);
  return false;
}

export function deleteDraft(storage: BrowserStorage): void {
  draftNote(storage).forget();
}

export function readDraft(storage: BrowserStorage, memberId: string): Draft | undefined {
  const storedNote = draftNote(storage).get();
  const result =
    storedNote?.memberId === memberId
      ? openWorkflow(writeExactJson(storedNote.workflow), undefined, { workflowId: storedNote.workflowId })
      : undefined;
  if (!storedNote || !result?.ok) {
    deleteDraft(storage);
    return undefined;
  }
  const { name, stored, fromJob, readFor, rawTexts, inputs, ownNames, both } = storedNote;
  return {
    file: {
      ...result.value,
      name,
      ...(stored !== undefined && { storedPath: stored }),
      ...(fromJob !== undefined && { fromJob }),
      ...(readFor !== undefined && { readFor }),
      ...(rawTexts && { rawTexts }),
      ...(both && { both }),
    },
    inputs,
    ...(Object.keys(ownNames).length > 0 && { ownNames }),
  };
}

function changedInputs({ graph, original }: OpenWorkflow): Record<string, JsonObject> {
  const changedNodes = Object.entries(graph).filter(([nodeId, node]) => getOwn(original, nodeId) !== node);
  return Object.fromEntries(changedNodes.map(([nodeId, { inputs }]) => [nodeId, inputs]));
}

export const edit: Reader<Edit> = object({ nodeId: anyText, name: anyText, value: anything });
