// Signing in and out through next-auth's documented HTTP endpoints (a token against foreign forms, then the form itself).
// Guarantees: an outcome, never an exception; the password goes into the body of one request and nowhere else.
// Must never: say which of address and password was wrong. next-auth's own client is not used: it does not know a base path without a provider around every page.

import { callApi } from "./api";

export type SignInOutcome = "signed-in" | "refused" | "too-many" | "unreachable" | "broken";

export async function signIn(credentials: { email: string; password: string }): Promise<SignInOutcome> {
  const token = await readCsrfToken();
  if (token === undefined) return "unreachable";
  const body = new URLSearchParams({ ...credentials, csrfToken: token, json: "true" });
  const result = await callApi<{ url?: string }>("/api/auth/callback/credentials", { method: "POST", body });
  if (result.ok) return outcomeOfUrl(result.value?.url);
  const { status, code } = result.failure;
  if (status === 429) return "too-many";
  if (status === 401 || status === 403) return code === "RATE_LIMITED" ? "too-many" : "refused";
  return status === 0 ? "unreachable" : "broken";
}

/** True when the session has ended. */
export async function signOut(): Promise<boolean> {
  const token = await readCsrfToken();
  if (token === undefined) return false;
  const body = new URLSearchParams({ csrfToken: token, json: "true" });
  const result = await callApi("/api/auth/signout", { method: "POST", body });
  return result.ok;
}

async function readCsrfToken(): Promise<string | undefined> {
  const result = await callApi<{ csrfToken?: string }>("/api/auth/csrf", { cache: "no-store" });
  return result.ok ? result.value?.csrfToken : undefined;
}

/** next-auth answers a refusal as the address of its own error page. */
function outcomeOfUrl(url: string | undefined): SignInOutcome {
  const error = url && URL.canParse(url, "http://localhost") ? new URL(url, "http://localhost").searchParams.get("error") : undefined;
  if (!error) return "signed-in";
  return /rate|too.?many/i.test(error) ? "too-many" : "refused";
}
