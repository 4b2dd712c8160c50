// Remembers which format of a file with two formats the person chose: asked once per file, recognised by its content.
// Guarantees: never throws; bounded, the oldest choice is dropped first. Must never: hold anything of the file but a fingerprint.

import { type BothFormats, type Format } from "@/components/run/workflow/opened";
import { persisted } from "@/lib/browser/persisted";
import { list, type Reader } from "@/lib/contract/json/readers";
import { fingerprint } from "../workflow-id";

const MOST_FILES = 200;

type Choice = readonly [file: string, format: Format];
const choice: Reader<Choice> = (kept) => {
  const [file, format]: unknown[] = Array.isArray(kept) ? kept : [];
  return typeof file === "string" && (format === "run" || format === "drawing") ? [file, format] : undefined;
};
const choices = persisted("lightdesk.run.formats", (kept) => list(choice)(kept) ?? []);

export function chosenFormat({ text }: BothFormats): Format | undefined {
  const file = fingerprint(text);
  return choices.get().find(([one]) => one === file)?.[1];
}

export function keepFormat({ text }: BothFormats, format: Format): void {
  const file = fingerprint(text);
  choices.set([...choices.get().filter(([one]) => one !== file), [file, format] as const].slice(-MOST_FILES));
}
