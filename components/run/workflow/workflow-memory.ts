// Per-workflow settings in this browser: pinned inputs, and seeds that change with every run.
// Guarantees: never throws. Drops the least recently used workflows first. Must never store a value, only names of inputs.

import { useCallback, useMemo, useState } from "react";
import { type BrowserStorage, createPersistedValue } from "@/lib/browser/persisted-value";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, anything, list, map, object, oneOf, type Reader, text, withFallback } from "@/lib/contract/json/readers";
import { readSecretLocations } from "@/lib/contract/secrets/secret-locations";
import { openWorkflow } from "./open-workflow";
import { type BothFormats, type Draft, type Edit, fingerprint, type Format, type OpenWorkflow } from "./opened-workflow";

const MAX_WORKFLOWS = 200;
const MAX_INPUTS = 200;

type WorkflowMemory = { pinned: readonly string[]; randomised: readonly string[] };
type Entry = readonly [id: string, memory: WorkflowMemory];

const inputsReader = withFallback(list(anyText, MAX_INPUTS), []);
const memoryReader = object({ pinned: inputsReader, randomised: inputsReader });
const entryReader: Reader<Entry> = (storedValue) => {
  const [id, storedMemory]: unknown[] = Array.isArray(storedValue) ? storedValue : [];
  const memory = memoryReader(storedMemory);
  return typeof id === "string" && memory ? [id, memory] : undefined;
};
const storedWorkflows = createPersistedValue("lightdesk.run.workflows", withFallback(list(entryReader), []));

export function toInputKey(nodeId: string, name: string): string {
  return writeExactJson([nodeId, name]);
}

export function readMemory(workflowId: string): WorkflowMemory {
  return storedWorkflows.get().find(([id]) => id === workflowId)?.[1] ?? { pinned: [], randomised: [] };
}

export function storeMemory(workflowId: string, memory: WorkflowMemory): void {
  const otherEntries = storedWorkflows.get().filter(([id]) => id !== workflowId);
  const isEmpty = memory.pinned.length + memory.randomised.length === 0;
  const entries: Entry[] = isEmpty ? otherEntries : [...otherEntries, [workflowId, memory]];
  storedWorkflows.set(entries.slice(-MAX_WORKFLOWS));
}

function toggleItem(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((listItem) => listItem !== item) : [...list, item].slice(-MAX_INPUTS);
}

export type InputSettings = {
  isPinned: (nodeId: string, name: string) => boolean;
  isRandomised: (nodeId: string, name: string) => boolean;
  toggle: (setting: keyof WorkflowMemory, nodeId: string, name: string) => void;
  memory: WorkflowMemory;
};

/** Pins and seeds of the open workflow, remembered in this browser. */
export function useWorkflowMemory(workflowId: string): InputSettings {
  const [changedMemory, setChangedMemory] = useState<{ workflowId: string; memory: WorkflowMemory }>();
  const memory = useMemo(
    () => (changedMemory?.workflowId === workflowId ? changedMemory.memory : readMemory(workflowId)),
    [changedMemory, workflowId],
  );
  const toggle = useCallback<InputSettings["toggle"]>(
    (setting, nodeId, name) => {
      const storedMemory = readMemory(workflowId);
      const nextMemory = { ...storedMemory, ...memory, [setting]: toggleItem(memory[setting], toInputKey(nodeId, name)) };
      storeMemory(workflowId, nextMemory);
      setChangedMemory({ workflowId, memory: nextMemory });
    },
    [memory, workflowId],
  );
  return useMemo(
    () => ({
      memory,
      toggle,
      isPinned: (nodeId, name) => memory.pinned.includes(toInputKey(nodeId, name)),
      isRandomised: (nodeId, name) => memory.randomised.includes(toInputKey(nodeId, name)),
    }),
    [memory, toggle],
  );
}

// Remembers the chosen format of a file with two formats, recognised by its content.
// Guarantees: never throws. Drops the oldest choices first.
// Must never store more of the file than a fingerprint.

const MAX_FILES = 200;

type FormatChoice = readonly [file: string, format: Format];
const choiceReader: Reader<FormatChoice> = (storedValue) => {
  const [file, format]: unknown[] = Array.isArray(storedValue) ? storedValue : [];
  return typeof file === "string" && (format === "run" || format === "drawing") ? [file, format] : undefined;
};
const storedChoices = createPersistedValue("lightdesk.run.formats", (storedValue) => list(choiceReader)(storedValue) ?? []);

export function readFormat({ text }: BothFormats): Format | undefined {
  const fileHash = fingerprint(text);
  return storedChoices.get().find(([storedHash]) => storedHash === fileHash)?.[1];
}

export function storeFormat({ text }: BothFormats, format: Format): void {
  const fileHash = fingerprint(text);
  storedChoices.set(
    [...storedChoices.get().filter(([storedHash]) => storedHash !== fileHash), [fileHash, format] as const].slice(-MAX_FILES),
  );
}

// The open workflow and typed values, stored in this tab's sessionStorage so that a reload loses nothing.
// Guarantees: never throws. Bounded. Parses stored data like a file. Deletes another member's draft. Contains no pictures, only their names.
// Must never be read during hydration, since the server has no draft.

export const MAX_DRAFT_CHARACTERS = 1_000_000;
export const draftOptions = { maxCharacters: MAX_DRAFT_CHARACTERS, parse: parseJson };
const factsReader = object({}, { name: anyText, workflowId: text, leavesOut: readSecretLocations, fromJob: text });
const bothFormatsReader: Reader<BothFormats> = object(
  { text, facts: factsReader, shown: oneOf(["run", "drawing"]) },
  { fileName: anyText },
);
const draftReader = object(
  {
    memberId: text,
    workflow: anything,
    name: withFallback(text, ""),
    inputs: withFallback(map(map(anything)), {}),
    ownNames: withFallback(map(anyText), {}),
  },
  { workflowId: text, stored: text, fromJob: text, readFor: text, rawTexts: list(anyText), both: bothFormatsReader },
);
const getDraftStorage = (storage: BrowserStorage) => createPersistedValue("lightdesk.run", draftReader, storage, draftOptions);

/** False if the draft could not be stored. No older draft remains, and the page warns on leaving. */
export function storeDraft(storage: BrowserStorage, memberId: string, openWorkflow: OpenWorkflow): boolean {
  const { name, workflowId, storedPath, fromJob, readFor, original, extraData, ownNames, rawTexts, both } = openWorkflow;
  const workflow = { prompt: original, extra_data: extraData };
  const newDraft = {
    memberId,
    name,
    workflowId,
    stored: storedPath,
    fromJob,
    readFor,
    rawTexts,
    workflow,
    inputs: getChangedInputs(openWorkflow),
    ownNames: ownNames ?? {},
  };
  const draftStorage = getDraftStorage(storage);
  // The other format contains the full file again, so a draft that is too large is stored without it.
  if ((both && draftStorage.set({ ...newDraft, both })) || draftStorage.set(newDraft)) return true;
  deleteDraft(storage);
  return false;
}

export function deleteDraft(storage: BrowserStorage): void {
  getDraftStorage(storage).remove();
}

export function readDraft(storage: BrowserStorage, memberId: string): Draft | undefined {
  const storedDraft = getDraftStorage(storage).get();
  const result =
    storedDraft?.memberId === memberId
      ? openWorkflow(writeExactJson(storedDraft.workflow), undefined, { workflowId: storedDraft.workflowId })
      : undefined;
  if (!storedDraft || !result?.ok) {
    deleteDraft(storage);
    return undefined;
  }
  const { name, stored, fromJob, readFor, rawTexts, inputs, ownNames, both } = storedDraft;
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

function getChangedInputs({ graph, original }: OpenWorkflow): Record<string, JsonObject> {
  const changedNodes = Object.entries(graph).filter(([nodeId, node]) => getOwn(original, nodeId) !== node);
  return Object.fromEntries(changedNodes.map(([nodeId, { inputs }]) => [nodeId, inputs]));
}

export const editReader: Reader<Edit> = object({ nodeId: anyText, name: anyText, value: anything });
