// Which inputs are seeds, and new values for them.

import { randomOf } from "@/lib/contract/nodes/fill-texts";
import { isSeedName } from "@/lib/contract/workflow/graph";
import { type Control, type FormNode } from "./form-model";

const MOST = 2 ** 32 - 1;

export function isSeed(name: string, control: Control): boolean {
  return control.kind === "number" && isSeedName(name);
}

/** A whole number within the service's range, and exact as a JSON number. */
export function randomSeed(control: Control, random: () => number = Math.random): number {
  const { min, max } = control.kind === "number" ? control : {};
  const from = Math.max(0, Math.ceil(Number(min ?? 0)));
  const to = Math.min(Math.floor(Number(max ?? MOST)), Number.MAX_SAFE_INTEGER);
  return to <= from ? from : from + Math.floor(random() * (to - from));
}

export type SeedEdit = { nodeId: string; name: string; value: number };

/** A new value for each seed that is set to change with every run; the same draw gives the same values. */
export function newSeeds(form: readonly FormNode[], isRandomised: (nodeId: string, name: string) => boolean, draw: number): SeedEdit[] {
  return form.flatMap(({ id, fields }) =>
    fields.flatMap(({ name, control }) =>
      isSeed(name, control) && isRandomised(id, name)
        ? [{ nodeId: id, name, value: randomSeed(control, randomOf(`${draw} ${id} ${name}`)) }]
        : [],
    ),
  );
}
