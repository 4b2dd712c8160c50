// Responses to clients without a session: a public page, a redirect to the sign-in, or a JSON error. Authorizes nothing.

import "server-only";
import { createHash } from "node:crypto";
import { type IncomingHttpHeaders } from "node:http";
import { embedPageOf } from "@/lib/contract/embed/embed-pages";
import { refusal } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { oidcRefusals } from "@/lib/contract/people/sign-in";
import { embedAddressOf } from "@/lib/shared/console-paths";
import { isApi, type VisitorAnswer, type VisitorRules, withoutRouterQuery } from "@/lib/shared/http-types";
import { LANGUAGE_COOKIE, readLanguage } from "@/lib/shared/languages";
import { readInvitation } from "../auth/members";
import { authenticate, readViewer } from "../auth/viewer";
import { type Composition, type Parts } from "../composition-type";
import { readCookie, SESSION_COOKIES, VOUCHED_HEADER } from "../cookies";
import { isEmbeddedRequest, startPath } from "../embed/sessions";
import { consoleUrl } from "../env";
import { visitShare } from "../queries/shares";
import { getSetUp } from "../queries/sign-in";
import { CHALLENGE } from "../requests/responses";
import { openVisitorPage } from "./open-page";

const MAX_RETURN_CHARS = 2000;

export const visitorRules: VisitorRules = {
  async isMember({ url = "/", headers }) {
    if (!hasCredential(headers) || (!isApi(url) && isProgram(headers))) return false;
    try {
      return (await readViewer(await openVisitorPage(), toHeaders(headers))) !== undefined;
    } catch {
      return true;
    }
  },
  async answerFor(request) {
    const { url = "/", headers } = request;
    if (isApi(url)) return { kind: "own" };
    const composition = await openVisitorPage();
    if (isProgram(headers)) return refuseProgram(composition, headers);
    const path = (url.split(/[?#]/)[0] ?? "").replace(/(?<=.)\/+$/, "");
    if (path === "/embed" || path.startsWith("/embed/")) return answerEmbedded(composition, url, path);
    const query = new URLSearchParams(url.split("?")[1]);
    const language = readLanguage(readCookie(headers.cookie ?? null, LANGUAGE_COOKIE), headers["accept-language"]);
    const shared = (page: string) => ({ kind: "shared", key: page, url: page, language }) as const;
    const [, first = "", rest, ...more] = path.split("/");
    const token = query.get("token") || undefined;
    if (path === "/sign-in") return headers[VOUCHED_HEADER] === undefined ? shared(signInPage(composition, query)) : { kind: "own" };
    if (path === "/set-up") {
      const state = await getSetUp(composition, token);
      return state === "open"
        ? { kind: "own" }
        : { ...shared(state === "unknown" ? "/set-up?token=-" : "/set-up"), key: `set-up ${state}` };
    }
    if (path === "/invitation") {
      if (token === undefined) return shared("/invitation");
      return (await readInvitation(composition, token)).state === "unknown" ? shared("/invitation?token=-") : { kind: "own" };
    }
    if (first === "share" && rest !== undefined && more.length === 0) return answerShare(composition, rest, headers, language);
    if (/^(sign-in|set-up|invitation|share)$/.test(first)) return shared("/sign-in/-");
    if (!(await composition.store.members.hasOwner())) return { kind: "redirect", location: "/set-up" };
    const back = withoutRouterQuery(url);
    return { kind: "redirect", location: `/sign-in${back.length > MAX_RETURN_CHARS ? "" : `?callbackUrl=${encodeURIComponent(back)}`}` };
  },
};

/** The page's script reads the sign-in's return URL: the page is the same for all. */
function signInPage({ env }: Parts<"env">, query: URLSearchParams): string {
  const refused = oidcRefusals.find((oidcRefusal) => oidcRefusal === query.get("refused"));
  const provider = env.oidc.find(({ id }) => id === query.get("provider"));
  return refused && provider ? `/sign-in?refused=${refused}&provider=${encodeURIComponent(provider.id)}` : "/sign-in";
}

async function answerShare(
  composition: Composition,
  token: string,
  headers: IncomingHttpHeaders,
  language: string,
): Promise<VisitorAnswer> {
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
    refused: { status: 429, code: "RATE_LIMITED", message: "Too many requests. Try again in a moment.", headers: retryAfter },
  };
}

async function answerEmbedded({ store }: Parts<"store">, url: string, path: string): Promise<VisitorAnswer> {
  const embed = embedAddressOf(path);
  if (!embed) return path === "/embed/start" || path === "/embed/doctor" ? { kind: "own" } : nothingHere;
  if (!(await store.embedHosts.get(embed.host))) return nothingHere;
  if (embed.rest === "/start" || embed.rest === "/doctor") return { kind: "own" };
  if (embed.rest !== "/choose" && !embedPageOf(embed.rest)) return nothingHere;
  const from = withoutRouterQuery(url).slice(embed.path.length);
  return { kind: "redirect", location: startPath(embed, from.length > MAX_RETURN_CHARS ? undefined : from) };
}

const nothingHere: VisitorAnswer = {
  kind: "refused",
  refused: refusal("NOT_FOUND", "There is nothing at this address."),
};

/** Pages don't accept a token: the response names the base address that does. */
async function refuseProgram(composition: Composition, headers: IncomingHttpHeaders): Promise<VisitorAnswer> {
  const base = `${consoleUrl(composition.env, `http://${headers.host}`)}/api`;
  const admitted = await authenticate(composition, toHeaders(headers));
  const where = `The interface's base address is ${base}.`;
  if (admitted.ok) return { kind: "refused", refused: refusal("NOT_FOUND", `There is no operation at this address. ${where}`) };
  const { status, code, message, retryAfterMs } = admitted.failure;
  const more = {
    ...(status === 401 && { "www-authenticate": CHALLENGE }),
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
  };
  const hint = headers["x-api-key"] === undefined && headers.authorization === undefined ? " Send a token in X-API-Key." : "";
  return { kind: "refused", refused: { status, code, message: `${message}${hint} ${where}`, headers: more } };
}

/** Browsers and Next's router request pages. Basic credentials for a reverse proxy are not a token. */
function isProgram({ accept = "", authorization, rsc, ...headers }: IncomingHttpHeaders): boolean {
  if (headers["x-api-key"] !== undefined) return true;
  const isBrowser = accept.includes("text/html") || headers["sec-fetch-mode"] === "navigate" || rsc !== undefined;
  if (authorization === undefined) return accept.includes("application/json") && !isBrowser;
  if (/^bearer +lde_/i.test(authorization) && isEmbeddedRequest(toHeaders(headers))) return false;
  return /^bearer\b/i.test(authorization) || !isBrowser;
}

function hasCredential({ cookie = "", authorization, ...headers }: IncomingHttpHeaders): boolean {
  if (authorization !== undefined || headers["x-api-key"] !== undefined || headers[VOUCHED_HEADER] !== undefined) return true;
  return SESSION_COOKIES.some((name) => cookie.includes(name)) || (isEmbeddedRequest(toHeaders(headers)) && cookie !== "");
}

function toHeaders(headers: IncomingHttpHeaders): Pick<Headers, "get"> {
  return { get: (name) => (headers[name] === undefined ? null : String(headers[name])) };
}
