// The bounds on texts, so that a short graph cannot fill memory or make a job's answer too large to read.
// A text is checked wherever it enters or leaves a node; beyond a bound the node fails, not the process.

import { NodeFailure } from "./definition";
import { type NodeValue } from "./values";

/** For one text: what a node is given, passes on or shows. */
export const MOST_TEXT_BYTES = 1024 * 1024;
/** For all texts that a job's nodes show, which are kept with the job. */
const MOST_SHOWN_BYTES = 4 * MOST_TEXT_BYTES;
/** For all texts that wait for a later node at once. */
const MOST_KEPT_BYTES = 16 * MOST_TEXT_BYTES;

export function checkTexts(values: Iterable<NodeValue>): void {
  for (const value of values) {
    if (bytesOfText(value) > MOST_TEXT_BYTES) throw tooMuch(`A text of this node is larger than ${mebi(MOST_TEXT_BYTES)}`);
  }
}

/** Counts what a job shows; throws if it would be too much. */
export function createShownTexts(): (texts: readonly string[]) => void {
  let shown = 0;
  return (texts) => {
    const wanted = shown + sumOfTexts(texts);
    if (wanted > MOST_SHOWN_BYTES) throw tooMuch(`The texts that this job shows are larger than ${mebi(MOST_SHOWN_BYTES)} together`);
    shown = wanted;
  };
}

export function checkKeptTexts(bytes: number): void {
  if (bytes > MOST_KEPT_BYTES) throw tooMuch(`The texts that this job holds at once are larger than ${mebi(MOST_KEPT_BYTES)} together`);
}

export function sumOfTexts(values: readonly NodeValue[]): number {
  return values.reduce<number>((sum, value) => sum + bytesOfText(value), 0);
}

function bytesOfText(value: NodeValue): number {
  return typeof value === "string" ? Buffer.byteLength(value) : 0;
}

function tooMuch(what: string): NodeFailure {
  return new NodeFailure("OOMError", `${what}, the most that this service allows. Use shorter texts.`);
}

function mebi(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}
