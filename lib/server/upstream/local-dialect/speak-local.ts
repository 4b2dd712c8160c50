// The dialect of a plain local server: one user, no key, other words for the same things (wire facts, section 5).
// Guarantees: its answers look like the interface's to every caller, so no page has to know; what it lacks is answered as an absent
// operation, with a sentence; an answer that is not a local server's fails as unreadable and never counts as empty.
// Must never: be used for a service that has keys.

import "server-only";
import { z } from "zod";
import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { objectOf } from "@/lib/contract/json/json";
import { UnreadableAnswer } from "../failures";
import { type LargeAnswers } from "../large-answers";
import { type Send } from "../send";
import { assetTranslations, wordsOfAssets } from "./local-assets";
import {
  type AnyWording,
  createEndedMemory,
  Misread,
  openExchange,
  readLocal,
  translated,
  type Translation,
  wording,
} from "./local-exchange";
import { jobTranslations, wordsOfJobs, wordsOfOlderJobs } from "./local-jobs";
import { historyTranslations, queueTranslations, wordsOfHistory, wordsOfQueue } from "./local-queue";

const LARGEST_EDGE = "res";

const promptSchema = z.looseObject({ client_id: z.string().optional(), extra_data: z.looseObject({}).nullish() });

/**
 * `client_id`: the console's, so that it gets messages about the job; without one, a cached job reports no outputs.
 * `create_time`: versions before /api/jobs record none; later ones overwrite it. Undefined if the body is no prompt.
 */
const promptWords = wording("prompt", ([body], { create_time, client_id }: { create_time: number; client_id: string }) => {
  const given = promptSchema.safeParse(body);
  const extra = objectOf(objectOf(body)?.extra_data) ?? {};
  return given.success ? { client_id, ...given.data, extra_data: withSpellingsOf(extra, { ...extra, create_time }) } : undefined;
});
/** The fault is the console's; the server did not get the job. */
const NOT_SENT = "The job was not sent: the console could not prepare a workflow of this size now. Submit it again in a moment.";

function unlessUnreadable(error: unknown): "unreadable" {
  if (error instanceof UnreadableAnswer) return "unreadable";
  throw error;
}

const activeUser = wording("active-user", () => ({ status: "active" }));

const otherTranslations: readonly Translation[] = [
  {
    method: "POST",
    path: /\/api\/prompt$/,
    async speak({ request, pass, ask, ended, write, clientId }) {
      const body = new Uint8Array(await request.clone().arrayBuffer());
      const json = await write(promptWords, [body], { create_time: ended.now(), client_id: clientId }).catch(unlessUnreadable);
      if (json === "unreadable") return translated({ code: "SERVICE_UNAVAILABLE", message: NOT_SENT }, 503);
      return json ? ask("/api/prompt", { json }) : pass();
    },
  },
  {
    // Everyone who can reach a local server may use it.
    method: "GET",
    path: /\/api\/user$/,
    async speak({ ask, say }) {
      const read = await readLocal(await ask("/api/system_stats"));
      return read.ok ? ((await say(activeUser, [read.bytes], undefined)) ?? translated(null)) : read.answer;
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

/** All of them, for the thread. */
export const wordings: readonly AnyWording[] = [
  ...wordsOfJobs,
  ...wordsOfOlderJobs,
  ...wordsOfQueue,
  ...wordsOfHistory,
  ...wordsOfAssets,
  promptWords,
  activeUser,
];

export function speakLocal(send: Send, now: () => number, largeAnswers: Pick<LargeAnswers, "word">, clientId: string): Send {
  const ended = createEndedMemory(now);
  return async (request, onHead) => {
    const sendAndTell: Send = async (one) => {
      const answer = await send(one);
      onHead?.();
      return answer;
    };
    const tools = { send: sendAndTell, ended, largeAnswers, clientId };
    const { pathname } = new URL(request.url);
    for (const { method, path, speak } of translations) {
      const caught = method === "*" || method === request.method ? path.exec(pathname) : null;
      if (!caught) continue;
      try {
        return await speak(openExchange(tools, request, caught));
      } catch (error) {
        if (!(error instanceof Misread) && !(error instanceof z.ZodError)) throw error;
        // No operation is answered with null or with text that is not JSON, so the reader of answers refuses it.
        return error instanceof Misread && !error.isJson ? new Response("no JSON") : translated(null);
      }
    }
    return send(request);
  };
}
