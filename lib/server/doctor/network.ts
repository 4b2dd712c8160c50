// Checks the port and the reverse proxy, and the services, runners and sign-in providers that the console connects to.

import "server-only";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { queryPostgres } from "@/lib/shared/database/postgres";
import { openReadOnly } from "@/lib/shared/database/sqlite-copy";
import { formatCount } from "@/lib/shared/text";
import { discover, type DiscoveryDocument, NO_DISCOVERY_CACHE } from "../auth/oidc/provider";
import { type Env, getConsoleUrl } from "../env";
import { createDoctorProof, deriveInstallationName, PROOF_HEADER, readAuthSecretFile, type SeenRequest } from "../installation";
import { openKeyRing, readSharedSecret } from "../keys/key-ring";
import { getOidcSettingName, type OidcProvider } from "../sign-in-settings";
import { openStore } from "../store/store";
import { isProxy } from "../trusted-proxies";
import { isEmbedded } from "../upstream/send";
import { checkServiceDatabase, STATEMENT_TIMEOUT_MS } from "./databases";
import { failed, type Finding, type HealthResponse, pass, probeUrl, runSafely, warn } from "./findings";
import { MAX_CLOCK_DIFFERENCE_MS } from "./storage";

/** `secret` signs sessions. `name` identifies this console and is derived from it. */
type Installation = { secret: string | undefined; name: string | undefined };

const exampleHint = "as in docs/examples";

async function checkPublicAccess(env: Env, { secret, name: installationName }: Installation, now: () => number): Promise<Finding[]> {
  const { publicUrl } = env;
  const fetchHealth = async (headers?: Record<string, string>) => (publicUrl ? probeUrl(`${publicUrl}/api/health`, headers) : undefined);
  const response = await fetchHealth();
  const isThisConsole = installationName !== undefined && response?.installation === installationName;
  const seenRequest =
    isThisConsole && secret !== undefined
      ? (await fetchHealth({ [PROOF_HEADER]: createDoctorProof(secret, now()) }))?.seenRequest
      : undefined;
  return [
    await runSafely(
      "reverse proxy",
      () => (publicUrl && seenRequest ? checkSeenRequest(env, publicUrl, seenRequest) : undefined) ?? checkSettings(env),
    ),
    await runSafely("public address", () => checkPublicUrl(env, response, isThisConsole)),
  ];
}

/** Undefined if nothing indicates a reverse proxy. */
function checkSeenRequest({ proxies }: Env, publicUrl: string, { from, client, host, forwardedFor }: SeenRequest): Finding | undefined {
  const check = "reverse proxy";
  const { protocol, host: expectedHost } = new URL(publicUrl);
  if (new URL(`${protocol}//${host}`).host !== expectedHost)
    return failed(
      check,
      `Requests to ${publicUrl} arrive with the host ${host}, so every change is refused.`,
      `Make the proxy forward Host, ${exampleHint}.`,
    );
  if (forwardedFor === null && !proxies) return undefined;
  if (forwardedFor === null)
    return failed(
      check,
      `LIGHTDESK_TRUST_PROXY is set, but requests to ${publicUrl} arrive from ${from} without X-Forwarded-For, so all clients count as one address.`,
      `Make the proxy set the header, ${exampleHint}. Without a proxy, remove the setting.`,
    );
  if (!isProxy(from, proxies))
    return failed(
      check,
      `X-Forwarded-For arrives from ${from}, which LIGHTDESK_TRUST_PROXY does not list, so all clients count as one address.`,
      `If that is your proxy, set LIGHTDESK_TRUST_PROXY=${from}. Separate several proxies with commas.`,
    );
  return pass(check, `Requests to ${publicUrl} arrive from the trusted proxy ${from} and count as ${client}.`);
}

function checkSettings({ proxies, publicUrl, host }: Env): Finding {
  const check = "reverse proxy";
  if (proxies && !publicUrl)
    return failed(
      check,
      "LIGHTDESK_TRUST_PROXY is set without LIGHTDESK_PUBLIC_URL.",
      "Set LIGHTDESK_PUBLIC_URL to the address people open.",
    );
  if (publicUrl && !proxies && new URL(publicUrl).protocol === "https:")
    return warn(
      check,
      "LIGHTDESK_PUBLIC_URL is https but LIGHTDESK_TRUST_PROXY is not set, so all clients count as one address.",
      "Set LIGHTDESK_TRUST_PROXY to the proxy's address.",
    );
  if (proxies) return pass(check, "X-Forwarded-For is read from trusted proxies.");
  const isOpen = !["127.0.0.1", "localhost", "::1"].includes(host) && !publicUrl;
  if (isOpen)
    return warn(
      check,
      `The console listens on ${host} without TLS and without LIGHTDESK_PUBLIC_URL.`,
      "Put a reverse proxy with TLS in front.",
    );
  return pass(check, "None; X-Forwarded-For is ignored.");
}

function checkPublicUrl({ publicUrl }: Env, response: HealthResponse | undefined, isThisConsole: boolean): Finding {
  const check = "public address";
  if (!publicUrl) return pass(check, "LIGHTDESK_PUBLIC_URL is not set; the console uses its own address.");
  if (!response)
    return failed(
      check,
      `${publicUrl} does not respond.`,
      "Start the console, then check DNS, the proxy, the certificate and the firewall.",
    );
  if (isThisConsole) return pass(check, `${publicUrl} is this console.`);
  const httpsUrl = publicUrl.replace(/^http:/, "https:");
  if (httpsUrl !== publicUrl && response.location?.startsWith("https:"))
    return failed(check, `${publicUrl} redirects to https, so every change there is refused.`, `Set LIGHTDESK_PUBLIC_URL=${httpsUrl}`);
  if (response.status === 421)
    return failed(check, `${publicUrl} refuses the Host header of its own requests.`, `Make the proxy forward Host, ${exampleHint}.`);
  const responder = response.installation ? "a console with other data" : `something else (status ${response.status})`;
  return failed(check, `${publicUrl} is ${responder}.`, "Make the proxy forward every path, including /api/health, to this console.");
}

export async function checkNetwork(env: Env, now: () => number): Promise<Finding[]> {
  const secret = await readAuthSecret(env);
  const installationName = secret === undefined ? undefined : deriveInstallationName(secret);
  return [
    await runSafely("port", () => checkPort(env, installationName)),
    ...(await checkPublicAccess(env, { secret, name: installationName }, now)),
    ...(await checkConnections(env, now)),
    ...(await checkRunners(env)),
  ];
}

/** Consoles on one database share a secret, which is stored there. */
async function readAuthSecret({ dataDir, databaseUrl, encryptionKeys }: Env): Promise<string | undefined> {
  if (databaseUrl === undefined) return readAuthSecretFile(dataDir);
  if (encryptionKeys === undefined && !existsSync(join(dataDir, "encryption-keys"))) return undefined;
  const store = openStore("", databaseUrl);
  try {
    return await readSharedSecret(store.settings, openKeyRing(dataDir, encryptionKeys).keyRing);
  } catch {
    return undefined; // a separate check reports problems with the database or the key ring
  } finally {
    await store.close();
  }
}

async function checkPort(env: Env, installationName: string | undefined): Promise<Finding> {
  const { host, port } = env;
  if (port === 0) return pass("port", "A free port is picked at startup.");
  const problem = await tryListen(port, host);
  if (problem === undefined) return pass("port", `${port} on ${host} is free; no console is running.`);
  if (problem !== "EADDRINUSE")
    return failed(
      "port",
      `Can't listen on ${host}:${port} (${problem}).`,
      "Set HOST and PORT to an address of this machine and a port this user may use.",
    );
  const response = await probeUrl(`${getConsoleUrl({ ...env, publicUrl: undefined })}/api/health`);
  if (response?.installation && response.installation === installationName)
    return pass("port", `This console is running on ${host}:${port}.`);
  const responder = response?.installation ? "a console with other data" : "another program";
  return failed(
    "port",
    `${port} on ${host} is used by ${responder}.`,
    `Stop it (find it with ss -ltnp 'sport = :${port}'), or set another PORT.`,
  );
}

function tryListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function checkConnections({ dataDir, databaseUrl }: Env, now: () => number): Promise<Finding[]> {
  const urls = await (databaseUrl === undefined ? readSqliteUrls(join(dataDir, "console.sqlite")) : readPostgresUrls(databaseUrl)).catch(
    () => [], // a separate check reports database failures
  );
  return Promise.all(
    urls
      .filter((url) => !isEmbedded(url))
      .map((url) =>
        runSafely(`service ${url}`, async () => {
          const sentAtMs = now();
          const response = await probeUrl(url);
          if (!response) return warn(`service ${url}`, "No response.", "Connections to it fail until it responds.");
          const clockDifferenceMs = response.date === null ? 0 : Math.abs(Date.parse(response.date) - (sentAtMs + now()) / 2);
          if (clockDifferenceMs > MAX_CLOCK_DIFFERENCE_MS)
            return failed(
              `service ${url}`,
              `Its clock is ${formatCount(Math.round(clockDifferenceMs / 60_000), "minute")} off.`,
              "Set both clocks (NTP).",
            );
          return pass(`service ${url}`, response.date === null ? "Reachable." : "Reachable, clocks agree.");
        }),
      ),
  );
}

const URLS_QUERY = "SELECT DISTINCT base_url FROM connections ORDER BY base_url";

async function readSqliteUrls(file: string): Promise<string[]> {
  if (!existsSync(file)) return [];
  const database = openReadOnly(file);
  try {
    return database.prepare<[], string>(URLS_QUERY).pluck().all();
  } finally {
    database.close();
  }
}

async function readPostgresUrls(url: string): Promise<string[]> {
  const rows = await queryPostgres({ url, statementMs: STATEMENT_TIMEOUT_MS }, (queryRows) => queryRows<{ base_url: string }>(URLS_QUERY));
  return rows.map((row) => row.base_url);
}

async function checkRunners(env: Env): Promise<Finding[]> {
  try {
    // Checked first, because opening the store would create or migrate the tables.
    const { finding } = await checkServiceDatabase(env);
    if (finding.state !== "passed") return [];
    const store = await openServiceStore(join(env.dataDir, "service"), env.service);
    try {
      return (await store.runners.list()).flatMap(({ label, address, state, reason }) => {
        if (address === null) return [];
        const check = `runner ${label}`;
        if (state === "unreachable" || state === "set_aside")
          return failed(
            check,
            `${address} is ${state.replace("_", " ")}${reason ? `: ${reason.message}` : "."}`,
            "Fix that server, then resume it under Settings, Runners.",
          );
        return state === "ready" ? pass(check, `${address} is ready.`) : warn(check, `${address} is ${state}.`);
      });
    } finally {
      await store.close();
    }
  } catch {
    return []; // a separate check reports it
  }
}

// Checks each sign-in provider: discovery document, issuer, clock and redirect URI. Never sends the client secret.

/** The maximum time by which an ID token may be issued in the future. */
const MAX_CLOCK_SKEW_MS = 60_000;

export async function checkOidc(env: Env, now: () => number): Promise<Finding[]> {
  const findings = await Promise.all(env.oidc.map((provider) => checkProvider(env, provider, now)));
  return findings.flat();
}

async function checkProvider(env: Env, provider: OidcProvider, now: () => number): Promise<Finding[]> {
  const check = `sign-in ${provider.id}`;
  const issuerSetting = getOidcSettingName(provider.id, "ISSUER");
  const url = `${provider.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const sentAt = now();
  const response = await probeUrl(url);
  const durationMs = now() - sentAt;
  if (!response) return [failed(check, `${url} does not respond.`, `Check ${issuerSetting}, DNS, the certificate and the firewall.`)];
  if (response.status !== 200)
    return [
      failed(
        check,
        `${url} responds with status ${response.status}.`,
        `Set ${issuerSetting} to the issuer from the provider's documentation.`,
      ),
    ];
  let discovery: DiscoveryDocument;
  try {
    discovery = await discover(provider, NO_DISCOVERY_CACHE);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return [failed(check, `Its discovery document is invalid: ${reason}.`, `Set ${issuerSetting} to the issuer in that document.`)];
  }
  return [
    pass(check, `${discovery.issuer} publishes its configuration and matches ${issuerSetting}.`),
    checkClock(check, response.date === null ? undefined : Date.parse(response.date) - (sentAt + durationMs / 2)),
    await runSafely(check, () => checkRedirect(env, provider, discovery)),
  ];
}

function checkClock(check: string, differenceMs: number | undefined): Finding {
  if (differenceMs === undefined || Number.isNaN(differenceMs))
    return warn(check, "The response has no Date header, so clocks were not compared.");
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  if (Math.abs(differenceMs) <= MAX_CLOCK_SKEW_MS) return pass(check, "Clocks agree.");
  const direction = differenceMs > 0 ? "ahead of" : "behind";
  return failed(check, `Its clock is ${seconds} s ${direction} this one, so sign-ins fail.`, "Set both clocks (NTP).");
}

/** A provider redirects only to a registered URI. `prompt=none` prevents a prompt. */
async function checkRedirect(env: Env, { id, clientId, scopes }: OidcProvider, { authorizationUrl }: DiscoveryDocument): Promise<Finding> {
  const check = `sign-in ${id}`;
  const redirectUri = `${getConsoleUrl(env)}/api/auth/callback/${id}`;
  const registerRemedy = `Register ${redirectUri} as the redirect URI of ${clientId} at the provider.`;
  if (env.publicUrl === undefined)
    return warn(check, `LIGHTDESK_PUBLIC_URL is not set, so the redirect URI is ${redirectUri}.`, "Set it to the address people open.");
  const url = new URL(authorizationUrl);
  const authParams = { response_type: "code", client_id: clientId, redirect_uri: redirectUri, scope: scopes, prompt: "none" };
  // Any challenge works, because no code is ever exchanged.
  const challengeParams = { state: "doctor", nonce: "doctor", code_challenge: "a".repeat(43), code_challenge_method: "S256" };
  for (const [name, value] of Object.entries({ ...authParams, ...challengeParams })) url.searchParams.set(name, value);
  const response = await probeUrl(url.href);
  if (!response) return failed(check, `${authorizationUrl} does not respond.`, "Check DNS, the certificate and the firewall.");
  if (response.location?.startsWith(redirectUri)) {
    const error = new URL(response.location).searchParams.get("error");
    const isExpected = error === null || ["login_required", "interaction_required", "consent_required"].includes(error);
    if (isExpected) return pass(check, `The provider accepts the client and redirect URI ${redirectUri}.`);
    return failed(
      check,
      `The provider refuses the client: ${error.slice(0, 100)}.`,
      `Compare ${getOidcSettingName(id, "CLIENT_ID")} and SCOPES with what is registered.`,
    );
  }
  if (response.status >= 400 && response.status < 500)
    return failed(check, `The provider refuses the client or the redirect URI (status ${response.status}).`, registerRemedy);
  return warn(check, "The provider did not confirm the redirect URI.", registerRemedy);
}
