// Per-workflow settings in this browser: pinned inputs, and seeds that change with every run.
// Guarantees: never throws; bounded, the least recently used workflows are dropped first. Must never: hold a value, only names of inputs.

import { useCallback, useMemo, useState } from "react";
import { type BrowserStorage, persisted } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, anything, list, map, object, oneOf, type Reader, text, withFallback } from "@/lib/contract/json/readers";
import { readSecretPlaces } from "@/lib/contract/secrets/secret-places";
import { openWorkflow } from "./open-workflow";
import { type BothFormats, type Draft, type Edit, fingerprint, type Format, type OpenWorkflow } from "./opened-workflow";

const MAX_WORKFLOWS = 200;
const MAX_INPUTS = 200;

type WorkflowMemory = { pinned: readonly string[]; randomised: readonly string[] };
type Entry = readonly [id: string, memory: WorkflowMemory];

const inputs = withFallback(list(anyText, MAX_INPUTS), []);
const memory = object({ pinned: inputs, randomised: inputs });
const entry: Reader<Entry> = (storedValue) => {
  const [id, stored]: unknown[] = Array.isArray(storedValue) ? storedValue : [];
  const storedMemory = memory(stored);
  return typeof id === "string" && storedMemory ? [id, storedMemory] : undefined;
};
const workflows = persisted("lightdesk.run.workflows", withFallback(list(entry), []));

export function inputKey(nodeId: string, name: string): string {
  return writeExactJson([nodeId, name]);
}

export function readMemory(workflowId: string): WorkflowMemory {
  return workflows.get().find(([id]) => id === workflowId)?.[1] ?? { pinned: [], randomised: [] };
}

export function storeMemory(workflowId: string, memory: WorkflowMemory): void {
  const otherEntries = workflows.get().filter(([id]) => id !== workflowId);
  const isEmpty = memory.pinned.length + memory.randomised.length === 0;
  const all: Entry[] = isEmpty ? otherEntries : [...otherEntries, [workflowId, memory]];
  workflows.set(all.slice(-MAX_WORKFLOWS));
}

function toggled(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item].slice(-MAX_INPUTS);
}

export type InputSettings = {
  isPinned: (nodeId: string, name: string) => boolean;
  isRandomised: (nodeId: string, name: string) => boolean;
  toggle: (setting: keyof WorkflowMemory, nodeId: string, name: string) => void;
  memory: WorkflowMemory;
};

/** Pins and seeds of the open workflow, remembered in this browser. */
export function useWorkflowMemory(workflowId: string): InputSettings {
  const [changed, setChanged] = useState<{ workflowId: string; memory: WorkflowMemory }>();
  const memory = useMemo(() => (changed?.workflowId === workflowId ? changed.memory : readMemory(workflowId)), [changed, workflowId]);
  const toggle = useCallback<InputSettings["toggle"]>(
    (setting, nodeId, name) => {
      const now = readMemory(workflowId);
      const next = { ...now, ...memory, [setting]: toggled(memory[setting], inputKey(nodeId, name)) };
      storeMemory(workflowId, next);
      setChanged({ workflowId, memory: next });
    },
    [memory, workflowId],
  );
  return useMemo(
    () => ({
      memory,
      toggle,
      isPinned: (nodeId, name) => memory.pinned.includes(inputKey(nodeId, name)),
      isRandomised: (nodeId, name) => memory.randomised.includes(inputKey(nodeId, name)),
    }),
    [memory, toggle],
  );
}

// Remembers the chosen format of a file with two formats, recognised by its content.
// Guarantees: never throws; bounded, the oldest choice is dropped first.
// Must never store more of the file than a fingerprint.

const MAX_FILES = 200;

type Choice = readonly [file: string, format: Format];
const choice: Reader<Choice> = (storedValue) => {
  const [file, format]: unknown[] = Array.isArray(storedValue) ? storedValue : [];
  return typeof file === "string" && (format === "run" || format === "drawing") ? [file, format] : undefined;
};
const choices = persisted("lightdesk.run.formats", (storedValue) => list(choice)(storedValue) ?? []);

export function readFormat({ text }: BothFormats): Format | undefined {
  const file = fingerprint(text);
  return choices.get().find(([nodeId]) => nodeId === file)?.[1];
}

export function storeFormat({ text }: BothFormats, format: Format): void {
  const file = fingerprint(text);
  choices.set([...choices.get().filter(([nodeId]) => nodeId !== file), [file, format] as const].slice(-MAX_FILES));
}

// The open workflow and typed values, stored in this tab's sessionStorage so that a reload loses nothing.
// Guarantees: never throws; bounded; stored data is parsed like a file; another member's draft is deleted. Contains no pictures, only names.
// Must never be read during hydration, since the server has no draft.

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
