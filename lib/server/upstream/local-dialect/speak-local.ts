// Translates between the interface and a plain local server (wire facts, section 5): one user, no key, other words.
// What the server lacks is answered as an absent operation; unreadable answers never count as empty.

import "server-only";
import { z } from "zod";
import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { objectOf } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Send } from "../send";
import { assetTranslations } from "./local-assets";
import { createEndedMemory, EarlyAnswer, openExchange, translated, type Translation, valueOf } from "./local-exchange";
import { jobTranslations } from "./local-jobs";
import { historyTranslations, queueTranslations } from "./local-queue";

const LARGEST_EDGE = "res";

const promptSchema = z.looseObject({ client_id: z.string().optional(), extra_data: z.looseObject({}).nullish() });

const otherTranslations: readonly Translation[] = [
  {
    method: "POST",
    path: /\/api\/prompt$/,
    // `client_id`: the console's, so that it gets messages about the job; without one, a cached job reports no outputs.
    // `create_time`: versions before /api/jobs record none; later ones overwrite it.
    async speak({ request, pass, ask, ended, clientId }) {
      const body = parseJson(await request.clone().text());
      const prompt = promptSchema.safeParse(body);
      if (!prompt.success) return pass();
      const extra = objectOf(objectOf(body)?.extra_data) ?? {};
      const extra_data = withSpellingsOf(extra, { ...extra, create_time: ended.now() });
      return ask("/api/prompt", { json: { client_id: clientId, ...prompt.data, extra_data } });
    },
  },
  {
    // Everyone who can reach a local server may use it.
    method: "GET",
    path: /\/api\/user$/,
    async speak({ server }) {
      await valueOf(server.stats());
      return translated({ status: "active" });
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
      // A folder exists once it holds something: until then it counts as empty.
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

export function speakLocal(send: Send, now: () => number, clientId: string): Send {
  const ended = createEndedMemory(now);
  return async (request, onHead) => {
    const sendAndTell: Send = async (one) => {
      const answer = await send(one);
      onHead?.();
      return answer;
    };
    const tools = { send: sendAndTell, ended, clientId };
    const { pathname } = new URL(request.url);
    for (const { method, path, speak } of translations) {
      const caught = method === "*" || method === request.method ? path.exec(pathname) : null;
      if (!caught) continue;
      try {
        return await speak(openExchange(tools, request, caught));
      } catch (error) {
        if (error instanceof EarlyAnswer) return error.answer;
        // No operation is answered with null, so the reader of answers refuses it.
        if (error instanceof z.ZodError) return translated(null);
        throw error;
      }
    }
    return send(request);
  };
}
