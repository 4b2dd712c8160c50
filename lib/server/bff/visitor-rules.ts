// Responses to clients without a session: a public page, a redirect to the sign-in, or a JSON error. Authorizes nothing.

import "server-only";
import { createHash } from "node:crypto";
import { type IncomingHttpHeaders } from "node:http";
import { findEmbedPage } from "@/lib/contract/embed/embed-pages";
import { createFailure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { oidcRefusals } from "@/lib/contract/members/sign-in";
import { parseEmbedPath } from "@/lib/shared/console-paths";
import { isApiUrl, removeRouterQuery, type VisitorResponse, type VisitorRules } from "@/lib/shared/http-types";
import { chooseLanguage, LANGUAGE_COOKIE } from "@/lib/shared/languages";
import { readInvitation } from "../auth/members";
import { authenticate, readViewer } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { PROXY_EMAIL_HEADER, readCookie, SESSION_COOKIES } from "../cookies";
import { getStartPath, isEmbeddedRequest } from "../embed/sessions";
import { getConsoleUrl } from "../env";
import { getSetUpState } from "../queries/members";
import { visitShare } from "../queries/shares";
import { CHALLENGE } from "../requests/responses";
import { openPublicPage } from "./open-page";

const MAX_RETURN_LENGTH = 2000;

export const visitorRules: VisitorRules = {
  async isMember({ url = "/", headers }) {
    if (!hasCredential(headers) || (!isApiUrl(url) && isApiClient(headers))) return false;
    return (await readViewer(await openPublicPage(), toHeaders(headers))) !== undefined;
  },
  async getResponse(request) {
    const { url = "/", headers } = request;
    if (isApiUrl(url)) return { kind: "own" };
    const composition = await openPublicPage();
    if (isApiClient(headers)) return rejectApiClient(composition, headers);
    const path = (url.split(/[?#]/)[0] ?? "").replace(/(?<=[^/]|^\/)\/+$/, "");
    if (path === "/embed" || path.startsWith("/embed/")) return getEmbedResponse(composition, url, path);
    const query = new URLSearchParams(url.split("?")[1]);
    const language = chooseLanguage(readCookie(headers.cookie ?? null, LANGUAGE_COOKIE), headers["accept-language"]);
    const toSharedPage = (page: string) => ({ kind: "shared", key: page, url: page, language }) as const;
    const [, section = "", shareToken, ...extraSegments] = path.split("/");
    const token = query.get("token") || undefined;
    if (path === "/sign-in")
      return headers[PROXY_EMAIL_HEADER] === undefined ? toSharedPage(getSignInPage(composition, query)) : { kind: "own" };
    if (path === "/set-up") {
      const state = await getSetUpState(composition, token);
      return state === "open"
        ? { kind: "own" }
        : { ...toSharedPage(state === "unknown" ? "/set-up?token=-" : "/set-up"), key: `set-up ${state}` };
    }
    if (path === "/invitation") {
      if (token === undefined) return toSharedPage("/invitation");
      return (await readInvitation(composition, token)).state === "unknown" ? toSharedPage("/invitation?token=-") : { kind: "own" };
    }
    if (section === "share" && shareToken !== undefined && extraSegments.length === 0)
      return getShareResponse(composition, shareToken, headers, language);
    if (/^(sign-in|set-up|invitation|share)$/.test(section)) return toSharedPage("/sign-in/-");
    if (!(await composition.store.members.hasOwner())) return { kind: "redirect", location: "/set-up" };
    const returnPath = removeRouterQuery(url);
    return {
      kind: "redirect",
      location: `/sign-in${returnPath.length > MAX_RETURN_LENGTH ? "" : `?callbackUrl=${encodeURIComponent(returnPath)}`}`,
    };
  },
};

/** The same page for everyone, because its script reads the return URL. */
function getSignInPage({ env }: Dependencies<"env">, query: URLSearchParams): string {
  const refusalReason = oidcRefusals.find((oidcRefusal) => oidcRefusal === query.get("refused"));
  const provider = env.oidc.find(({ id }) => id === query.get("provider"));
  return refusalReason && provider ? `/sign-in?refused=${refusalReason}&provider=${encodeURIComponent(provider.id)}` : "/sign-in";
}

async function getShareResponse(
  composition: Composition,
  token: string,
  headers: IncomingHttpHeaders,
  language: string,
): Promise<VisitorResponse> {
  const visit = await visitShare(composition, token, toHeaders(headers));
  const url = `/share/${token}`;
  if (visit.kind === "none") return { kind: "shared", key: "share none", url: "/share/-", language };
  if (visit.kind === "locked") return { kind: "shared", key: `share ${token} locked`, url, language };
  if (visit.kind === "open" && !visit.hasPassword) {
    const version = createHash("sha256").update(writeExactJson(visit.page)).digest("base64url");
    return { kind: "shared", key: `share ${token} ${version}`, url, language };
  }
  if (visit.kind === "open") return { kind: "own" };
  const retryAfter = { "retry-after": String(Math.ceil(visit.waitMs / 1000)) };
  return {
    kind: "refused",
    error: { status: 429, code: "RATE_LIMITED", message: "Too many requests. Try again in a moment.", headers: retryAfter },
  };
}

async function getEmbedResponse({ store }: Dependencies<"store">, url: string, path: string): Promise<VisitorResponse> {
  const embed = parseEmbedPath(path);
  if (!embed) return path === "/embed/start" || path === "/embed/doctor" ? { kind: "own" } : notFoundResponse;
  if (!(await store.embedHosts.get(embed.host))) return notFoundResponse;
  if (embed.innerUrl === "/start" || embed.innerUrl === "/doctor") return { kind: "own" };
  if (embed.innerUrl !== "/choose" && !findEmbedPage(embed.innerUrl)) return notFoundResponse;
  const returnPath = removeRouterQuery(url).slice(embed.path.length);
  return { kind: "redirect", location: getStartPath(embed, returnPath.length > MAX_RETURN_LENGTH ? undefined : returnPath) };
}

const notFoundResponse: VisitorResponse = {
  kind: "refused",
  error: createFailure("NOT_FOUND", "There is nothing at this address."),
};

/** Pages don't accept tokens, so the response names the base URL that does. */
async function rejectApiClient(composition: Composition, headers: IncomingHttpHeaders): Promise<VisitorResponse> {
  const baseUrl = `${getConsoleUrl(composition.env, `http://${headers.host}`)}/api`;
  const viewerResult = await authenticate(composition, toHeaders(headers));
  const urlHint = `The API's base URL is ${baseUrl}.`;
  if (viewerResult.ok) return { kind: "refused", error: createFailure("NOT_FOUND", `There is no operation at this address. ${urlHint}`) };
  const { status, code, message, retryAfterMs } = viewerResult.failure;
  const extraHeaders = {
    ...(status === 401 && { "www-authenticate": CHALLENGE }),
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
  };
  const tokenHint = headers["x-api-key"] === undefined && headers.authorization === undefined ? " Send a token in X-API-Key." : "";
  return { kind: "refused", error: { status, code, message: `${message}${tokenHint} ${urlHint}`, headers: extraHeaders } };
}

/** Browsers and Next's router request pages. Basic credentials are for a reverse proxy, not a token. */
function isApiClient({ accept = "", authorization, rsc, ...headers }: IncomingHttpHeaders): boolean {
  if (headers["x-api-key"] !== undefined) return true;
  const isBrowser = accept.includes("text/html") || headers["sec-fetch-mode"] === "navigate" || rsc !== undefined;
  if (authorization === undefined) return accept.includes("application/json") && !isBrowser;
  if (/^bearer +lde_/i.test(authorization) && isEmbeddedRequest(toHeaders(headers))) return false;
  return /^bearer\b/i.test(authorization) || !isBrowser;
}

function hasCredential({ cookie = "", authorization, ...headers }: IncomingHttpHeaders): boolean {
  if (authorization !== undefined || headers["x-api-key"] !== undefined || headers[PROXY_EMAIL_HEADER] !== undefined) return true;
  return SESSION_COOKIES.some((name) => cookie.includes(name)) || (isEmbeddedRequest(toHeaders(headers)) && cookie !== "");
}

function toHeaders(headers: IncomingHttpHeaders): Pick<Headers, "get"> {
  return { get: (name) => (headers[name] === undefined ? null : String(headers[name])) };
}
