// next-auth behind our own guard: its answers get our headers, and a refusal for too many attempts gets its status and Retry-After.
// Guarantees: next-auth gets a body that was read within our limits; by itself it would hold whatever a stranger sends.
// Must never: let an error of next-auth say more than its code.

import "server-only";
import NextAuth from "next-auth";
import { NextRequest } from "next/server";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Handler, type RouteContext, refusal, toActor, unguarded } from "./guard";
import { LONGEST_OF_STRANGERS, readJson, readWhole } from "./read-request";
import { authOptions, RATE_LIMITED_PREFIX } from "../auth/options";
import { explainedRefusals } from "../auth/sign-in";
import { deviceCookie } from "../auth/device-cookie";
import { type OidcTurn } from "../auth/oidc/turn";
import { type Member } from "../store/people/members";
import { beginOidc, finishOidc, signOutEverywhere } from "./oidc-route";

export function authRoute(): Handler {
  return unguarded("auth", async (opened) => {
    const { request, params, note } = opened;
    const body = await readBody(request);
    if (!body.ok) return body;
    const failures: unknown[] = [];
    let signedIn: Member | undefined;
    const context: RouteContext = { params: Promise.resolve(params) };
    const events = {
      changed(action: "signIn" | "signOut", member: Member) {
        note({ action, by: toActor(member) });
        if (action === "signIn") signedIn = member;
      },
      refused: (member: Member | undefined, address: string, code: string) =>
        note({ action: "signIn", by: member && toActor(member), isWritten: true, target: address, outcome: `code=${code}` }),
      failed: (error: unknown) => void failures.push(error),
    };
    // Made for each request: the options read the composition, which does not exist at import.
    async function run(asked: Request, turn?: OidcTurn): Promise<Response> {
      const handle: (request: Request, context: RouteContext) => Promise<Response> = NextAuth(authOptions(events, request.headers, turn));
      const answer = await handle(asked, context);
      if (failures.length > 0) throw failures[0];
      return answer;
    }
    const [step, id] = Array.isArray(params.nextauth) ? params.nextauth : [];
    const provider = opened.console.env.oidc.find((one) => one.id === id);
    if (provider && step === "signin" && request.method === "POST") return beginOidc(provider, body.value, run);
    if (provider && step === "callback" && request.method === "GET") return finishOidc(provider, opened, run);
    if (step === "signout" && request.method === "POST") return ok(await signOutEverywhere(request, () => run(body.value)));
    const answer = await run(body.value);
    const told = await reasonOf(answer);
    if (told) return failed(told);
    if (signedIn) answer.headers.append("set-cookie", await deviceCookie(signedIn));
    return ok(answer);
  });
}

/** next-auth understands only forms and small JSON objects of texts. */
async function readBody(request: Request): Promise<Result<Request, Failure>> {
  const { url, method, headers } = request;
  if (method !== "POST") return ok(request);
  const isJson = headers.get("content-type")?.includes("json") ?? false;
  const read = isJson
    ? await readJson(request, z.record(z.string(), z.union([z.string(), z.boolean()])), LONGEST_OF_STRANGERS)
    : await readWhole(request, LONGEST_OF_STRANGERS);
  if (!read.ok) return failed(read.failure);
  const body = read.value instanceof Uint8Array ? read.value : writeExactJson(read.value);
  return ok(new NextRequest(url, { method, headers, body }));
}

/** The reason that our own check gave next-auth; undefined where its answer stays as it is. */
async function reasonOf(answer: Response): Promise<Failure | undefined> {
  if (answer.status !== 401) return undefined;
  const text = await answer.clone().text();
  const seconds = text.match(new RegExp(`${RATE_LIMITED_PREFIX}(\\d{1,6})`))?.[1];
  if (seconds !== undefined)
    return { ...refusal("RATE_LIMITED", "Too many attempts. Try again later."), retryAfterMs: Number(seconds) * 1000 };
  return explainedRefusals.find(({ code }) => text.includes(`error=${code}`));
}
