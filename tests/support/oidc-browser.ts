// Simulates a browser that signs in with an OIDC provider. Calls the console's handlers directly.
import { type Harness, HOST } from "./harness";
import { type TokenIssuer } from "./token-issuer";

// As set in bin/console.ts.
process.env.NEXTAUTH_URL = `http://${HOST}/api/auth`;

/** Follows sign-in redirects between the console and the provider, with a cookie jar. */
export function createOidcBrowser(harness: Harness, jar: Record<string, string> = {}) {
  const getCookieHeader = () =>
    Object.entries(jar)
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
  const storeCookies = (response: Response) => {
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") delete jar[name];
      else jar[name] = value;
    }
    return response;
  };
  async function request(method: string, path: string, fields?: Record<string, string>): Promise<Response> {
    const headers = { "x-lightdesk-address": "198.51.100.9" };
    return storeCookies(
      await harness.request(path, { method, cookie: getCookieHeader(), headers, body: fields && new URLSearchParams(fields) }),
    );
  }
  async function fetchCsrfToken(): Promise<string> {
    const { csrfToken }: { csrfToken: string } = await (await request("GET", "/api/auth/csrf")).json();
    return csrfToken;
  }
  return {
    jar,
    request,
    async startSignIn(id: string, extra: Record<string, string> = {}): Promise<string> {
      const fields = { csrfToken: await fetchCsrfToken(), json: "true", callbackUrl: "/jobs", ...extra };
      const { url }: { url: string } = await (await request("POST", `/api/auth/signin/${id}`, fields)).json();
      return url;
    },
    async finishSignIn(id: string, query: Record<string, string>) {
      const response = await request("GET", `/api/auth/callback/${id}?${new URLSearchParams(query).toString()}`);
      return parseRedirect(response.headers.get("location") ?? "");
    },
    async signIn(id: string, issuer: TokenIssuer, extra?: Record<string, string>) {
      return this.finishSignIn(id, issuer.visit(await this.startSignIn(id, extra)));
    },
    async signOut(): Promise<string> {
      const { url }: { url: string } = await (
        await request("POST", "/api/auth/signout", { csrfToken: await fetchCsrfToken(), json: "true" })
      ).json();
      return url;
    },
    fetchAccount: async () =>
      (await harness.request("/api/console/account", { cookie: getCookieHeader() })).json() as Promise<{
        member?: { email: string; role: string };
      }>,
  };
}

/** Returns the sign-in error code, or the path of the redirect. */
function parseRedirect(location: string): string {
  const { pathname, searchParams } = new URL(location, `http://${HOST}`);
  return searchParams.get("refused") ?? pathname;
}
