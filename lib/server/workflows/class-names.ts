// Display names of a service's node classes, so that a job's page names nodes as the form does without requesting megabytes.
// Guarantees: learnt from catalogues that pass through; bounded in number and in length; names are never shared between connections.
// Must never: ask a service. The names are lost with the process; nodes are then shown by their classes.

import "server-only";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { looseGraph } from "@/lib/contract/workflow/graph";
import { createLru } from "@/lib/shared/lru";

const MOST_CONNECTIONS = 20;
const MOST_CLASSES = 20_000;
const LONGEST = 200;

export type ClassName = readonly [className: string, name: string];
export type ClassNames = ReturnType<typeof createClassNames>;

export function createClassNames() {
  const known = createLru<string, Map<string, string>>({ max: MOST_CONNECTIONS });
  return {
    learn(connectionId: string, names: readonly ClassName[]): void {
      const of = known.get(connectionId) ?? new Map<string, string>();
      for (const [className, name] of names) if (of.has(className) || of.size < MOST_CLASSES) of.set(className, name);
      known.set(connectionId, of);
    },
    /** Undefined if none of them has a name. */
    of(connectionId: string, classes: readonly string[]): Record<string, string> | undefined {
      const names = known.get(connectionId);
      const found = names ? classes.flatMap((className) => namedIn(names, className)) : [];
      return found.length === 0 ? undefined : Object.fromEntries(found);
    },
  };
}

function namedIn(names: ReadonlyMap<string, string>, className: string): [string, string][] {
  const name = names.get(className);
  return name === undefined ? [] : [[className, name]];
}

/** The names in a catalogue, or in a part of one. */
export function classNamesIn(catalogue: unknown): ClassName[] {
  return Object.entries(objectOf(catalogue) ?? {}).flatMap(([className, info]): ClassName[] => {
    const name = textOf(objectOf(info)?.display_name)?.trim().slice(0, LONGEST);
    return name === undefined || name === className || className.length > LONGEST ? [] : [[className, name]];
  });
}

/** The classes in a job's workflow, each once. */
export function classesIn(job: unknown): string[] {
  const nodes = Object.values(looseGraph(objectOf(job)?.workflow) ?? {});
  return [...new Set(nodes.flatMap(({ class_type: className }) => (className === undefined ? [] : [className])))];
}
