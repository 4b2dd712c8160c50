// Translates between the API and a plain local server (wire facts, section 5), which has one user and no keys.
// Missing features are reported as unsupported operations. An unreadable response never counts as empty.

import "server-only";
import { z } from "zod";
import { toViewPath } from "@/lib/comfyui/client";
import { copySpellings } from "@/lib/contract/json/exact-json";
import { asObject, asText, isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { getMediaKind, type OutputFile } from "@/lib/contract/views/outputs-view";
import { type Send } from "../send";
import { readBytes } from "../streams";
import {
  createEndedJobsCache,
  createExchange,
  createJsonResponse,
  createNotImplementedResponse,
  EarlyResponse,
  isMissingRoute,
  type LocalExchange,
  type Translation,
  unwrap,
} from "./local-exchange";
import { jobTranslations } from "./local-jobs";
import { historyTranslations, queueTranslations } from "./local-queue";

// Assets of a local server: files in folders, times in UTC without a zone, and maybe no assets at all.

const MAX_REFUSAL_BYTES = 64 * 1024;
const folders = ["input", "output", "temp"];
const timeFields = ["created_at", "updated_at", "last_access_time"];
const timeWithoutZonePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const singleAssetPathPattern = /^\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\/|$)/i;
const listSchema = z.looseObject({ assets: z.array(z.unknown()) });

const assetTranslations: readonly Translation[] = [
  {
    // Without --enable-assets, these paths return 503, which elsewhere means "try again". Older versions do not have them.
    method: "*",
    path: /\/api\/(assets|tags|tasks)(\/.*)?$/,
    async translate(exchange) {
      const { request, forward, url, pathGroups } = exchange;
      const response = await forward();
      const isRoot = pathGroups[1] === undefined;
      // A missing asset is reported in JSON. A HEAD for its hash has no body.
      const isSingleAsset = request.method !== "HEAD" && singleAssetPathPattern.test(pathGroups[1] ?? "");
      if (response.status === 503 || (isRoot && response.status === 405) || ((isRoot || isSingleAsset) && isMissingRoute(response)))
        return createNotImplementedResponse("This local server runs without its asset library (--enable-assets).");
      // Only newer versions have this path.
      if (pathGroups[1] === "/download" && isMissingRoute(response))
        return createNotImplementedResponse("This local server does not download models.");
      if (response.status === 400 && url.searchParams.has("metadata_filter")) return translateFilterRefusal(exchange, response);
      const returnsAssets = pathGroups[0] === "assets" && request.method !== "HEAD" && request.method !== "DELETE";
      return returnsAssets && /\bjson\b/i.test(response.headers.get("content-type") ?? "") && !/\/(content|tags)/.test(pathGroups[1] ?? "")
        ? addFiles(exchange, response)
        : response;
    },
  },
];

async function addFiles({ readJson }: LocalExchange, response: Response): Promise<Response> {
  const localResult = await readJson(response);
  if (!localResult.ok) return localResult.failure;
  const list = listSchema.safeParse(localResult.value);
  const value = list.success ? { ...list.data, assets: list.data.assets.map(toAsset) } : toAsset(localResult.value);
  return createJsonResponse(value, response.status);
}

function toAsset(asset: unknown): unknown {
  if (!isObject(asset)) return asset;
  const timesWithZone = timeFields.flatMap((name) => {
    const time = asset[name];
    return typeof time === "string" && timeWithoutZonePattern.test(time) ? [[name, `${time}Z`]] : [];
  });
  const file = findFile(asset);
  const isImage = getMediaKind({ names: [asText(asset.name)], types: [asText(asset.mime_type)] }) === "image";
  // A temporary image has no preview, but can still be opened.
  const needsPreview = file !== undefined && isImage && asText(asset.preview_url) === undefined;
  const previewFields = needsPreview && { preview_url: `/api${toViewPath(file)}` };
  return { ...asset, ...Object.fromEntries(timesWithZone), file, ...previewFields };
}

/** Uses the preview URL, which is the file's unless another asset is the preview. Otherwise builds the path from the asset's tags. */
function findFile(asset: Record<string, unknown>): OutputFile | undefined {
  const previewUrl = asText(asset.preview_id) === undefined ? asText(asset.preview_url) : undefined;
  if (previewUrl !== undefined && URL.canParse(previewUrl, "http://local.invalid")) {
    const { pathname, searchParams } = new URL(previewUrl, "http://local.invalid");
    const filename = searchParams.get("filename");
    if (pathname.endsWith("/api/view") && filename)
      return { filename, subfolder: searchParams.get("subfolder") ?? "", type: searchParams.get("type") ?? "output" };
  }
  const { tags } = asset;
  const type = folders.find((folder) => Array.isArray(tags) && tags.includes(folder));
  const path = asText(asset.loader_path) ?? asText(asset.name);
  if (type === undefined || path === undefined) return undefined;
  const slash = path.lastIndexOf("/");
  return { filename: path.slice(slash + 1), subfolder: slash < 0 ? "" : path.slice(0, slash), type };
}

/** Reads the body once, because two readers of one body would block each other. Refusals of any length remain refusals. */
async function translateFilterRefusal({ request }: LocalExchange, response: Response): Promise<Response> {
  const bytes = await readBytes(response.body, MAX_REFUSAL_BYTES, { signal: request.signal });
  const text = bytes && new TextDecoder().decode(bytes);
  if (text?.includes("UNSUPPORTED_PARAM"))
    return createJsonResponse({ code: "INVALID_QUERY", message: "A local server does not filter assets by metadata." }, 400);
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return new Response(text, { status: response.status, headers });
}

const SIZE_PARAM = "res";

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
      await unwrap(server.getStats());
      return createJsonResponse({ status: "active" });
    },
  },
  {
    method: "GET",
    path: /\/api\/view$/,
    translate: ({ forward }) => forward((query) => query.delete(SIZE_PARAM)),
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
      // Folders without files don't exist on a local server, so they count as empty.
      return response.status === 404 ? createJsonResponse([]) : response;
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
  return async (request, onHeaders) => {
    const sendWithCallback: Send = async (localRequest) => {
      const response = await send(localRequest);
      onHeaders?.();
      return response;
    };
    const dependencies = { send: sendWithCallback, endedJobs, clientId };
    const { pathname } = new URL(request.url);
    for (const { method, path, translate } of translations) {
      const match = method === "*" || method === request.method ? path.exec(pathname) : null;
      if (!match) continue;
      try {
        return await translate(createExchange(dependencies, request, match));
      } catch (error) {
        if (error instanceof EarlyResponse) return error.answer;
        // Also keeps the request alive until here: Node never aborts the signal of a garbage-collected request.
        request.signal.throwIfAborted();
        // No operation returns null, so validation rejects it.
        if (error instanceof z.ZodError) return createJsonResponse(null);
        throw error;
      }
    }
    return send(request);
  };
}
