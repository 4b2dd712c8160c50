// Finds the choice that a person most likely meant: the same but for case, folder or ending, else the one with the fewest changed letters.
// Guarantees: pure; bounded, since lists of models and their names are long; undefined if nothing is near.

import { type ChoiceValue } from "./input-spec";

const LONGEST = 200;
const MOST_COMPARED = 5000;

export function nearestOf(value: unknown, options: readonly ChoiceValue[]): ChoiceValue | undefined {
  const wanted = bare(String(value));
  if (wanted === "" || wanted.length > LONGEST) return undefined;
  let best: { option: ChoiceValue; far: number } | undefined;
  for (const option of options.slice(0, MOST_COMPARED)) {
    const text = bare(String(option));
    const most = Math.min(Math.floor(Math.max(wanted.length, text.length) / 2), (best?.far ?? Infinity) - 1);
    if (text.length > LONGEST || Math.abs(text.length - wanted.length) > most) continue;
    const far = distance(wanted, text);
    if (far <= most) best = { option, far };
  }
  return best?.option;
}

function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/^.*[\\/]/, "")
    .replace(/\.[a-z0-9]{1,12}$/, "");
}

/** How many letters have to be changed, added or removed. */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let at = 1; at <= other.length; at++) {
      const swap = (above[at - 1] ?? 0) + (one[row - 1] === other[at - 1] ? 0 : 1);
      line.push(Math.min(swap, (above[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    above = line;
  }
  return above[other.length] ?? 0;
}
