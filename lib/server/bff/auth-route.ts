// The steps of a sign-in at /api/auth, which next-auth performs behind our own guard. Its other endpoints are not exposed.
// Guarantees: a body is read within our limits; no next-auth response reaches a client unchanged.

import "server-only";
import { z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { deviceCookie } from "../auth/device-cookie";
import { askNextAuth, type AuthStep } from "../auth/next-auth";
import { type OidcTurn } from "../auth/oidc/turn";
import { authOptions, RATE_LIMITED_PREFIX } from "../auth/options";
import { explainedRefusals } from "../auth/sign-in";
import { consoleUrl } from "../env";
import { type OidcProvider } from "../oidc-settings";
import { type Member } from "../store/people/members";
import { jsonAnswer } from "./answers";
import { type Handler, type Opened, refusal, toActor, unguarded } from "./guard";
import { type AskNextAuth, beginOidc, finishOidc, signOutEverywhere } from "./oidc-route";
import { LONGEST_OF_STRANGERS, readJson, readWhole, searchOf } from "./read-request";

type Step = { step: AuthStep; method: "GET" | "POST"; provider?: OidcProvider };

export function authRoute(): Handler {
  return unguarded("auth", async (opened) => {
    const { request, params } = opened;
    const found = stepOf(Array.isArray(params.nextauth) ? params.nextauth : [], opened.console.env.oidc);
    if (!found) return failed(refusal("NOT_FOUND", "There is nothing at this address."));
    if (found.method !== (request.method === "HEAD" ? "GET" : request.method))
      return failed(refusal("METHOD_NOT_ALLOWED", `This address takes ${found.method} only.`));
    const form = found.method === "POST" ? await readForm(request) : undefined;
    if (form && !form.ok) return form;
    return take(found, opened, form?.value);
  });
}

function stepOf([first, id, ...more]: readonly string[], providers: readonly OidcProvider[]): Step | undefined {
  if (more.length > 0) return undefined;
  if (id === undefined) {
    if (first === "csrf" || first === "session" || first === "providers") return { step: first, method: "GET" };
    return first === "signout" ? { step: first, method: "POST" } : undefined;
  }
  if (first === "callback" && id === "credentials") return { step: first, method: "POST" };
  const provider = providers.find((one) => one.id === id);
  if (!provider || (first !== "signin" && first !== "callback")) return undefined;
  return { step: first, method: first === "signin" ? "POST" : "GET", provider };
}

async function take({ step, provider }: Step, opened: Opened, form: URLSearchParams | undefined): Promise<Result<Response, Failure>> {
  const { request, note } = opened;
  const { headers: sent } = request;
  const failures: unknown[] = [];
  let signedIn: Member | undefined;
  const events = {
    changed(action: "signIn" | "signOut", member: Member) {
      note({ action, by: toActor(member) });
      if (action === "signIn") signedIn = member;
    },
    refused: (member: Member | undefined, address: string, code: string) =>
      note({ action: "signIn", by: member && toActor(member), isWritten: true, target: address, outcome: `code=${code}` }),
    failed: (error: unknown) => void failures.push(error),
  };
  const id = provider?.id ?? (step === "callback" ? "credentials" : undefined);
  const ask: AskNextAuth = async (turn?: OidcTurn) => {
    const search = provider ? searchOf(request) : undefined;
    const answer = await askNextAuth({ step, provider: id, sent, form, search }, authOptions(events, sent, turn));
    if (failures.length > 0) throw failures[0];
    return answer;
  };
  if (provider) return form ? beginOidc(provider, request, form, ask) : finishOidc(provider, opened, ask);
  if (step === "signout") return signOutEverywhere(request, ask);
  const { status, headers, url, body } = await ask();
  if (!form) return ok(jsonAnswer(body, 200, headers));
  if (signedIn) {
    headers.append("set-cookie", await deviceCookie(signedIn));
    return ok(jsonAnswer({ url: consoleUrl(opened.console.env) }, 200, headers));
  }
  return failed(status === 401 ? reasonOf(url ?? "") : notBegunHere);
}

/** The reason from our own password check, which next-auth returns in its redirect URL. */
function reasonOf(url: string): Failure {
  const seconds = new RegExp(`${RATE_LIMITED_PREFIX}(\\d{1,6})`).exec(url)?.[1];
  if (seconds !== undefined)
    return { ...refusal("RATE_LIMITED", "Too many attempts. Try again later."), retryAfterMs: Number(seconds) * 1000 };
  const explained = explainedRefusals.find(({ code }) => url.includes(`error=${code}`));
  return explained ?? refusal("UNAUTHORIZED", "Address or password is wrong.");
}

/** The CSRF token is missing or belongs to another browser. */
const notBegunHere = refusal("BAD_REQUEST", "The sign-in was not begun here. Reload the page and try again.");

/** A form, or a JSON object of strings. If a field is repeated, the first one wins. */
async function readForm(request: Request): Promise<Result<URLSearchParams, Failure>> {
  if (request.headers.get("content-type")?.includes("json")) {
    const read = await readJson(request, z.record(z.string(), z.union([z.string(), z.boolean()])), LONGEST_OF_STRANGERS);
    return read.ok ? ok(new URLSearchParams(Object.entries(read.value).map(([name, value]) => [name, String(value)]))) : read;
  }
  const read = await readWhole(request, LONGEST_OF_STRANGERS);
  return read.ok ? ok(new URLSearchParams(new TextDecoder().decode(read.value))) : read;
}
