// Calls next-auth with exactly what a sign-in step needs; nothing else from the request reaches it.
// Guarantees: only next-auth's own cookies and only a provider's response parameters, each once; never a return URL, so that
// neither a redirect nor an error can be provoked with one.

import "server-only";
import NextAuth, { type NextAuthOptions } from "next-auth";
import { composition } from "../composition";
import { readCookie } from "../read-cookie";
import { nextAuthCookies } from "./session-cookie";

export type AuthStep = "csrf" | "session" | "providers" | "signin" | "callback" | "signout";
/** `headers`: the cookies to set. `url`: where next-auth would redirect to. */
export type AuthAnswer = { status: number; headers: Headers; url?: string; body?: unknown };

type AuthQuestion = {
  step: AuthStep;
  provider?: string;
  sent: Pick<Headers, "get">;
  /** The form of a POST. Absent for a GET. */
  form?: URLSearchParams;
  /** Parameters of a provider's response. */
  search?: URLSearchParams;
};

const providerParams = ["code", "state", "iss", "error", "error_description", "session_state"];
const formFields = ["csrfToken", "email", "password"];

export async function askNextAuth({ step, provider, sent, form, search }: AuthQuestion, options: NextAuthOptions): Promise<AuthAnswer> {
  const answer: AuthAnswer = { status: 200, headers: new Headers() };
  // The parts of Next's request and response that next-auth uses.
  const request = {
    method: form ? "POST" : "GET",
    query: { ...pick(search, providerParams), nextauth: provider === undefined ? [step] : [step, provider] },
    body: form && { ...pick(form, formFields), json: "true" },
    cookies: cookiesIn(sent),
    headers: {},
  };
  const response = {
    status(status: number) {
      answer.status = status;
      return response;
    },
    getHeader: () => undefined,
    setHeader(name: string, value: unknown) {
      if (name === "Set-Cookie" && Array.isArray(value)) for (const line of value) answer.headers.append("set-cookie", String(line));
      else if (name === "Location") answer.url = String(value);
      return response;
    },
    json(body: { url?: string }) {
      answer.url = body.url;
    },
    send(body: unknown) {
      answer.body = body;
    },
    end: () => undefined,
  };
  const handle: (request: object, response: object) => Promise<void> = NextAuth(options);
  await handle(request, response);
  return answer;
}

function pick(from: URLSearchParams | undefined, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from?.get(name);
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

function cookiesIn(sent: Pick<Headers, "get">): Record<string, string> {
  const { callbackUrl: _unused, ...own } = nextAuthCookies(composition().env);
  return Object.fromEntries(
    Object.values(own).flatMap(({ name }) => {
      const value = readCookie(sent.get("cookie"), name);
      return value === undefined ? [] : [[name, decoded(value)]];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
