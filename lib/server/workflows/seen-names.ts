// The names that lists have just shown for jobs and assets, so that the audit log can name things and not only give their ids.
// Guarantees: bounded in number and in length; names are never shared between connections.
// Must never: hold more than names. They are lost with the process; the log then gives only the id.

import "server-only";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { createLru } from "@/lib/shared/lru";

const MOST = 20_000;
const LONGEST = 200;

export type SeenNames = ReturnType<typeof createSeenNames>;

export function createSeenNames() {
  const seen = createLru<string, string>({ max: MOST });
  return {
    /** Learns from an answer that contains jobs or assets, or is one of them. */
    learn(connectionId: string, answer: unknown): void {
      const { jobs, history, assets } = objectOf(answer) ?? {};
      for (const item of [answer, ...[jobs, history, assets].flatMap((list) => (Array.isArray(list) ? list : []))]) {
        const known = objectOf(item);
        const id = textOf(known?.id) ?? textOf(known?.prompt_id);
        const job = [textOf(known?.workflow_name), textOf(known?.job_label)].filter(Boolean).join(" · ");
        const name = job || textOf(known?.name);
        if (id === undefined || id.length > LONGEST || !name) continue;
        seen.set(`${connectionId}\n${id}`, name.slice(0, LONGEST));
      }
    },
    find: (connectionId: string, id: string): string | undefined => seen.get(`${connectionId}\n${id}`),
  };
}
