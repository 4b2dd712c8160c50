// A sign-in provider with configurable responses: discovery, keys, and ID tokens with any claims, header and key.
// tests/e2e/support/oidc-server.ts starts a real one with valid responses.
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";
import { closeAfterwards } from "./close-afterwards";

type IssuerOverrides = {
  /** Added to the claims of a valid token; undefined removes a claim. */
  claims?: Record<string, unknown>;
  algorithm?: "RS256" | "none" | "HS256";
  /** Signs with an unpublished key. */
  withOtherKey?: boolean;
  /** Added to the discovery document. */
  configuration?: Record<string, unknown>;
  userinfo?: Record<string, unknown>;
  /** Accepts a code repeatedly. */
  reusesCodes?: true;
  /** Responds to everything with this status. */
  status?: number;
  /** The registered redirect URL. */
  redirect?: string;
  /** How far the provider's clock is ahead. */
  aheadMs?: number;
};
export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>;

export const CLIENT = { id: "lightdesk", secret: "a secret of the provider's" };

export async function startTokenIssuer() {
  const keys = [generateKey(), generateKey()] as const;
  let overrides: IssuerOverrides = {};
  /** The browser's authorization parameters by code. */
  const grants = new Map<string, { nonce: string | null; challenge: string | null }>();
  const handleRequest: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", url);
    response.setHeader("date", new Date(Date.now() + (overrides.aheadMs ?? 0)).toUTCString());
    if (pathname === "/authorize") {
      const isRegistered = searchParams.get("redirect_uri") === overrides.redirect && searchParams.get("client_id") === CLIENT.id;
      const location = `${overrides.redirect ?? ""}?error=login_required&state=${searchParams.get("state") ?? ""}`;
      return void (isRegistered ? response.writeHead(302, { location }) : response.writeHead(400)).end();
    }
    const send = (value: unknown) => {
      response.writeHead(overrides.status ?? 200, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (pathname === "/.well-known/openid-configuration") return send({ ...createConfiguration(url), ...overrides.configuration });
    if (pathname === "/keys")
      return send({ keys: [{ ...keys[0].publicKey.export({ format: "jwk" }), kid: "one", alg: "RS256", use: "sig" }] });
    if (pathname === "/userinfo") return send(overrides.userinfo ?? { sub: overrides.claims?.sub ?? "ada" });
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const form = new URLSearchParams(body);
      const code = grants.get(form.get("code") ?? "");
      const challenge = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      if (code?.challenge !== challenge)
        return void response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      if (!overrides.reusesCodes) grants.delete(form.get("code") ?? "");
      const now = Math.floor(Date.now() / 1000);
      const defaultClaims = { iss: url, sub: "ada", aud: CLIENT.id, iat: now, exp: now + 60, nonce: code?.nonce };
      const claims = { ...defaultClaims, email: "ada@example.com", email_verified: true, name: "Ada Lovelace", ...overrides.claims };
      send({ access_token: randomUUID(), token_type: "Bearer", expires_in: 60, id_token: createToken(claims, overrides, keys) });
    });
  };
  const server = createServer(handleRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    setOverrides: (next: IssuerOverrides) => void (overrides = next),
    /** Simulates the user at the provider: takes the console's authorization URL and returns the provider's query. */
    visit(authorization: string): Record<string, string> {
      const { searchParams } = new URL(authorization);
      const code = randomUUID();
      grants.set(code, { nonce: searchParams.get("nonce"), challenge: searchParams.get("code_challenge") });
      return { code, state: searchParams.get("state") ?? "" };
    },
    stop: closeAfterwards(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    ),
  };
}

/** Console settings that make it trust this provider. */
export function createSettings(id: string, { url }: { url: string }, extra: Record<string, string> = {}): Record<string, string> {
  const defaults = { ISSUER: url, CLIENT_ID: CLIENT.id, CLIENT_SECRET: CLIENT.secret, ...extra };
  return Object.fromEntries(Object.entries(defaults).map(([key, value]) => [`LIGHTDESK_OIDC_${id.toUpperCase()}_${key}`, value]));
}

function generateKey() {
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}

function createConfiguration(url: string) {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
    userinfo_endpoint: `${url}/userinfo`,
    end_session_endpoint: `${url}/bye?tenant=1`,
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

type Keys = readonly { privateKey: KeyObject }[];

function createToken(claims: Record<string, unknown>, { algorithm = "RS256", withOtherKey }: IssuerOverrides, keys: Keys): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: algorithm, typ: "JWT", ...(algorithm === "RS256" && { kid: "one" }) })}.${part(claims)}`;
  if (algorithm === "none") return `${signed}.`;
  if (algorithm === "HS256") return `${signed}.${createHmac("sha256", CLIENT.secret).update(signed).digest("base64url")}`;
  const key = keys[withOtherKey ? 1 : 0];
  if (!key) throw new Error("no key");
  return `${signed}.${sign("sha256", Buffer.from(signed), key.privateKey).toString("base64url")}`;
}
