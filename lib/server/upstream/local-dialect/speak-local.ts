// The dialect of a plain local server: one user, no key, other words for the same things (wire facts, section 5).
// Guarantees: what stands here looks like the interface to every caller, so that no page knows; what a local server lacks is answered as
// an absent operation, with a sentence; an answer of another shape than a local server's fails as unreadable and never as empty.
// Must never: be used for a service that has keys.

import "server-only";
import { z } from "zod";
import { parseExactJson } from "@/lib/contract/exact-json";
import { type Send } from "../send";
import { createEndedMemory } from "./ended-jobs";
import { assetTranslations } from "./local-assets";
import { openExchange, readLocal, type Translation, translated } from "./local-exchange";
import { historyTranslations } from "./local-history";
import { jobTranslations } from "./local-jobs";
import { queueTranslations } from "./local-queue";

const LARGEST_EDGE = "res";

/** The name under which the console submits. Nobody listens under it, but without one a job that was cached tells nothing of its outputs. */
const CLIENT_ID = "lightdesk";
const promptSchema = z.looseObject({ client_id: z.string().optional(), extra_data: z.looseObject({}).nullish() });

const otherTranslations: readonly Translation[] = [
  {
    method: "POST",
    path: /\/api\/prompt$/,
    async speak({ request, pass, ask, ended }) {
      const given = promptSchema.safeParse(parseExactJson(await request.clone().text()));
      if (!given.success) return pass();
      // Versions before /api/jobs note no time of their own; later ones write theirs over it.
      const extra_data = { ...given.data.extra_data, create_time: ended.now() };
      return ask("/api/prompt", { json: { client_id: CLIENT_ID, ...given.data, extra_data } });
    },
  },
  {
    // Whoever reaches a local server may use it.
    method: "GET",
    path: /\/api\/user$/,
    async speak({ ask }) {
      const read = await readLocal(await ask("/api/system_stats"));
      return read.ok ? translated({ status: "active" }) : read.answer;
    },
  },
  {
    method: "GET",
    path: /\/api\/view$/,
    speak: ({ pass }) => pass((query) => query.delete(LARGEST_EDGE)),
  },
  {
    method: "GET",
    path: /\/api\/userdata$/,
    async speak({ pass }) {
      const answer = await pass((query) => {
        query.set("full_info", "true");
        query.delete("split");
        // A bare slash is an absolute path there, which is refused.
        if (query.get("dir") === "/") query.set("dir", "./");
      });
      // A folder is there once it holds something: until then it is an empty one.
      return answer.status === 404 ? translated([]) : answer;
    },
  },
];

const translations: readonly Translation[] = [
  ...jobTranslations,
  ...queueTranslations,
  ...historyTranslations,
  ...assetTranslations,
  ...otherTranslations,
];

export function speakLocal(send: Send, now: () => number): Send {
  const ended = createEndedMemory(now);
  return async (request) => {
    const { pathname } = new URL(request.url);
    for (const { method, path, speak } of translations) {
      const caught = method === "*" || method === request.method ? path.exec(pathname) : null;
      if (!caught) continue;
      try {
        return await speak(openExchange(send, request, caught, ended));
      } catch (error) {
        if (!(error instanceof z.ZodError)) throw error;
        return translated(null); // no operation is answered by it: the reader of answers refuses it by its shape
      }
    }
    return send(request);
  };
}
