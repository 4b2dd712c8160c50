// A bounded cache of job, asset and node class names from upstream responses.

import "server-only";
import { asObject, asText } from "@/lib/contract/json/json";
import { createLru } from "@/lib/shared/lru";

const MAX_NAMES = 20_000;
const MAX_LENGTH = 200;

export type SeenNames = ReturnType<typeof createSeenNames>;

export function createSeenNames() {
  const namesById = createLru<string, string>({ max: MAX_NAMES });
  return {
    /** Stores names from a response that is or contains jobs or assets. */
    record(connectionId: string, response: unknown): void {
      const { jobs, history, assets } = asObject(response) ?? {};
      for (const item of [response, ...[jobs, history, assets].flatMap((list) => (Array.isArray(list) ? list : []))]) {
        const entry = asObject(item);
        const id = asText(entry?.id) ?? asText(entry?.prompt_id);
        const jobName = [asText(entry?.workflow_name), asText(entry?.job_label)].filter(Boolean).join(" · ");
        const name = jobName || asText(entry?.name);
        if (id === undefined || id.length > MAX_LENGTH || !name) continue;
        namesById.set(`${connectionId}\n${id}`, name.slice(0, MAX_LENGTH));
      }
    },
    find: (connectionId: string, id: string): string | undefined => namesById.get(`${connectionId}\n${id}`),
  };
}

const MAX_CONNECTIONS = 20;
const MAX_CLASSES = 20_000;

type ClassName = readonly [className: string, name: string];
export type ClassNames = ReturnType<typeof createClassNames>;

export function createClassNames() {
  const namesByConnection = createLru<string, Map<string, string>>({ max: MAX_CONNECTIONS });
  return {
    record(connectionId: string, classes: readonly ClassName[]): void {
      const names = namesByConnection.get(connectionId) ?? new Map<string, string>();
      for (const [className, name] of classes) {
        if (name === "" || name === className || className.length > MAX_LENGTH) continue;
        if (names.has(className) || names.size < MAX_CLASSES) names.set(className, name.slice(0, MAX_LENGTH));
      }
      namesByConnection.set(connectionId, names);
    },
    find(connectionId: string, classes: readonly string[]): Record<string, string> | undefined {
      const names = namesByConnection.get(connectionId);
      const entries = names ? classes.flatMap((className) => toNamePair(names, className)) : [];
      return entries.length === 0 ? undefined : Object.fromEntries(entries);
    },
  };
}

function toNamePair(names: ReadonlyMap<string, string>, className: string): [string, string][] {
  const name = names.get(className);
  return name === undefined ? [] : [[className, name]];
}

export function listClasses(job: unknown): string[] {
  const workflow = asObject(asObject(job)?.workflow);
  const classes = new Set<string>();
  for (const node of Object.values(asObject(workflow?.prompt) ?? workflow ?? {})) {
    const className = asText(asObject(node)?.class_type);
    if (className !== undefined) classes.add(className);
  }
  return [...classes];
}
