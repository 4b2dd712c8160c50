// A real local OIDC server with its own sign-in and sign-out pages (npm `oidc-provider`).
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { type Page } from "@playwright/test";
import Provider from "oidc-provider";
import { CLIENT, createSettings } from "@/tests/support/token-issuer";
import { expect } from "./test";

/** The server's claims about each user, by user name. */
type Users = Record<string, { email: string; name: string; groups?: string[] }>;
export type OidcServer = { url: string; stop(): Promise<void> };

const SCOPES = "openid email profile groups";

/** `id`: prefixes the cookies, since browsers don't separate cookies by port. */
export async function startOidcServer(id: string, users: Users): Promise<OidcServer> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const provider = new Provider(url, {
    // The console's URLs are known once it has started.
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: ["http://127.0.0.1/api/auth/callback"],
        post_logout_redirect_uris: ["http://127.0.0.1/sign-in"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: SCOPES.split(" "),
    cookies: { keys: [`cookies of ${id}`], names: { session: `${id}_session`, interaction: `${id}_interaction`, resume: `${id}_resume` } },
    jwks: { keys: [generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" })] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    findAccount(_context, accountId) {
      const account = users[accountId];
      return account && { accountId, claims: () => ({ sub: accountId, email_verified: true, ...account }) };
    },
    // Skip the consent page: every user has already consented.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
  });
  provider.Client.prototype.redirectUriAllowed = (uri) => uri.endsWith(`/api/auth/callback/${id}`);
  provider.Client.prototype.postLogoutRedirectUriAllowed = (uri) => uri.endsWith("/sign-in");
  server.on("request", provider.callback());
  return {
    url,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function oidcSettings(id: string, server: OidcServer, extra: Record<string, string>): Record<string, string> {
  return createSettings(id, server, { SCOPES, ...extra });
}

/** Fills in the provider's own sign-in page. */
export async function signInAtProvider(page: Page, server: OidcServer, userName: string): Promise<void> {
  await expect(page).toHaveURL(new RegExp(`^${server.url}/`));
  await page.locator("[name=login]").fill(userName);
  await page.locator("[name=password]").fill("any password");
  await page.getByRole("button", { name: "Sign-in" }).click();
}
