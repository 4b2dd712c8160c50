// Translates between the API and a plain local server (wire facts, section 5), which has one user and no keys.
// Missing features are reported as unsupported operations. An unreadable response never counts as empty.

import "server-only";
import { z } from "zod";
import { copySpellings } from "@/lib/contract/json/exact-json";
import { asObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Send } from "../send";
import { assetTranslations } from "./local-assets";
import { createEndedJobsCache, EarlyResponse, jsonResponse, openExchange, type Translation, unwrap } from "./local-exchange";
import { jobTranslations } from "./local-jobs";
import { historyTranslations, queueTranslations } from "./local-queue";

const EDGE_PARAM = "res";

const promptSchema = z.looseObject({ client_id: z.string().optional(), extra_data: z.looseObject({}).nullish() });

const otherTranslations: readonly Translation[] = [
  {
    method: "POST",
    path: /\/api\/prompt$/,
    // `client_id` is the console's, so that it receives messages about the job. Without one, a cached job reports no outputs.
    // `create_time` is for versions before /api/jobs, which record none. Later versions overwrite it.
    async translate({ request, forward, call, endedJobs, clientId }) {
      const body = parseJson(await request.clone().text());
      const prompt = promptSchema.safeParse(body);
      if (!prompt.success) return forward();
      const extra = asObject(asObject(body)?.extra_data) ?? {};
      const extra_data = copySpellings(extra, { ...extra, create_time: endedJobs.now() });
      return call("/api/prompt", { json: { client_id: clientId, ...prompt.data, extra_data } });
    },
  },
  {
    // Everyone who can reach a local server may use it.
    method: "GET",
    path: /\/api\/user$/,
    async translate({ server }) {
      await unwrap(server.stats());
      return jsonResponse({ status: "active" });
    },
  },
  {
    method: "GET",
    path: /\/api\/view$/,
    translate: ({ forward }) => forward((query) => query.delete(EDGE_PARAM)),
  },
  {
    method: "GET",
    path: /\/api\/userdata$/,
    async translate({ forward }) {
      const response = await forward((query) => {
        query.set("full_info", "true");
        query.delete("split");
        // A bare slash is an absolute path for local servers, which reject it.
        if (query.get("dir") === "/") query.set("dir", "./");
      });
      // Folders without files don't exist there, so they count as empty.
      return response.status === 404 ? jsonResponse([]) : response;
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

export function createLocalDialect(send: Send, now: () => number, clientId: string): Send {
  const endedJobs = createEndedJobsCache(now);
  return async (request, onHead) => {
    const sendAndNotify: Send = async (request) => {
      const response = await send(request);
      onHead?.();
      return response;
    };
    const tools = { send: sendAndNotify, endedJobs, clientId };
    const { pathname } = new URL(request.url);
    for (const { method, path, translate } of translations) {
      const match = method === "*" || method === request.method ? path.exec(pathname) : null;
      if (!match) continue;
      try {
        return await translate(openExchange(tools, request, match));
      } catch (error) {
        if (error instanceof EarlyResponse) return error.answer;
        // No operation returns null, so validation rejects it.
        if (error instanceof z.ZodError) return jsonResponse(null);
        throw error;
      }
    }
    return send(request);
  };
}
