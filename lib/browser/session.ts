// Signs in and out through next-auth's HTTP endpoints, because its own client doesn't support base paths.

import { toSafeReturnPath } from "@/lib/shared/console-paths";
import { failed, ok, type Result } from "@/lib/shared/result";
import { callApi } from "./api";
import { apiPath } from "./urls";

export type SignInOutcome = "signed-in" | "refused" | "suspended" | "password-off" | "too-many" | "unreachable" | "broken";

export async function signIn(credentials: { email: string; password: string }): Promise<SignInOutcome> {
  const csrfToken = await readCsrfToken();
  if (csrfToken === undefined) return "unreachable";
  const body = new URLSearchParams({ ...credentials, csrfToken, json: "true" });
  const result = await callApi<{ url?: string }>("/api/auth/callback/credentials", { method: "POST", body });
  if (result.ok) return parseSignInOutcome(result.value?.url);
  const { status, code } = result.failure;
  if (status === 429) return "too-many";
  if (code === "SUSPENDED") return "suspended";
  if (code === "PASSWORD_SIGN_IN_OFF") return "password-off";
  if (status === 401 || status === 403) return "refused";
  return status === 0 ? "unreachable" : "broken";
}

type SignInPurpose = { purpose: "signIn" | "confirm" | "link" } | { purpose: "join"; token: string };

export async function signInWithProvider(
  provider: string,
  { returnTo, ...purpose }: SignInPurpose & { returnTo: string },
): Promise<Result<string, "away" | "too-many" | "lost" | "unreachable" | "broken">> {
  const csrfToken = await readCsrfToken();
  if (csrfToken === undefined) return failed("unreachable");
  const body = new URLSearchParams({ ...purpose, callbackUrl: returnTo, csrfToken, json: "true" });
  const result = await callApi<{ url: string }>(`/api/auth/signin/${encodeURIComponent(provider)}`, { method: "POST", body });
  if (result.ok) return ok(result.value.url);
  const { status, code } = result.failure;
  if (status === 0) return failed("unreachable");
  if (status === 429) return failed("too-many");
  if (status === 401 || code === "SIGN_IN_AGAIN") return failed("lost");
  return failed(code === "UPSTREAM_UNREACHABLE" ? "away" : "broken");
}

/** Returns the URL to open after signing out, possibly the provider's sign-out page. Returns undefined if signing out failed. */
export async function signOut(): Promise<string | undefined> {
  const csrfToken = await readCsrfToken();
  if (csrfToken === undefined) return undefined;
  const body = new URLSearchParams({ csrfToken, json: "true" });
  const result = await callApi<{ url?: string; provider?: true }>("/api/auth/signout", { method: "POST", body });
  if (!result.ok) return undefined;
  return (result.value?.provider && result.value.url) || apiPath("/sign-in");
}

/** Returns the redirect target of the sign-in. Read in the browser, because the server renders one page for all visitors. */
export function getReturnPath(): `/${string}` {
  return toSafeReturnPath(new URLSearchParams(window.location.search).get("callbackUrl"));
}

async function readCsrfToken(): Promise<string | undefined> {
  const result = await callApi<{ csrfToken?: string }>("/api/auth/csrf", { cache: "no-store" });
  return result.ok ? result.value?.csrfToken : undefined;
}

function parseSignInOutcome(url: string | undefined): SignInOutcome {
  const error = url && URL.canParse(url, "http://localhost") ? new URL(url, "http://localhost").searchParams.get("error") : undefined;
  if (!error) return "signed-in";
  return /rate|too.?many/i.test(error) ? "too-many" : "refused";
}
