// Asks a service whose key it is: one call to GET /api/user, four different answers.
// Guarantees: the service's last answer is what is remembered; the service's words that are repeated hold no key, whoever asks.
// Must never: try another key than the connection's own.

import "server-only";
import { type ConnectionCheck, isAccepted } from "@/lib/contract/console";
import { codeByStatus, type Failure, lacksOperation } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { openApiKey } from "../keys/api-keys";
import { type Connection } from "../store/connections";

const LONGEST_QUOTE = 120;
const localServer: ConnectionCheck = { outcome: "active", message: "A local server answers; it needs no key.", dialect: "local" };
const firstAsset = { limit: 1, offset: 0, include_public: false };

export async function checkConnection(connection: Connection, signal?: AbortSignal): Promise<ConnectionCheck> {
  const { store, ring } = composition();
  const stored = await store.keys.getOf(connection.id);
  const apiKey = stored && openApiKey(ring, stored);
  const check = await askWhoseKey({ id: connection.id, baseUrl: connection.baseUrl, apiKey }, signal);
  // If nothing answered, that says nothing about the dialect.
  if (isAccepted(check)) await store.connections.change(connection.id, { dialect: check.dialect, hasAssets: check.hasAssets });
  await rememberCheck(connection.id, check);
  return check;
}

/** Asks without remembering: the connection need not be stored. Recognises a plain local server: it has no users, but system stats. */
export async function askWhoseKey(
  { id, baseUrl, apiKey }: { id: string; baseUrl: string; apiKey: string | undefined },
  signal?: AbortSignal,
): Promise<ConnectionCheck> {
  const { capabilities, upstreamFor } = composition();
  const upstream = upstreamFor({ connectionId: id, baseUrl, dialect: "interface", apiKey });
  // A person waits for it, and can ask again.
  const asked = { signal, waits: "page" } as const;
  // Masked before anything is shortened: half of a secret would not be recognised.
  const answer = maskSecrets(await upstream.call(operations.getUser, asked));
  const hasNoUsers = !answer.ok && lacksOperation(answer.failure);
  const system = hasNoUsers ? await upstream.call(operations.getSystemStats, asked) : undefined;
  const isLocal = system?.ok === true && isObject(system.value.system);
  const asLocal = isLocal ? upstreamFor({ connectionId: id, baseUrl, dialect: "local", apiKey }) : undefined;
  const assets = await asLocal?.call(operations.listAssets, { query: firstAsset, ...asked });
  capabilities.forget(id);
  if (assets) return { ...localServer, hasAssets: !lacksAssets(assets) };
  return answer.ok
    ? { ...toCheck(answer.value.status), dialect: "interface", hasAssets: true }
    : { ...toRefusal(answer.failure), dialect: "interface" };
}

/** An outage does not mean that assets are missing. */
export function lacksAssets(answer: Result<unknown, Failure>): boolean {
  return !answer.ok && lacksOperation(answer.failure);
}

export async function rememberCheck(id: string, check: ConnectionCheck): Promise<void> {
  const { capabilities, store } = composition();
  capabilities.forget(id);
  await store.connections.setStatus(id, check.outcome);
  await store.peers.tellChange(id);
}

type Outcome = Omit<ConnectionCheck, "dialect">;

function toCheck(status: string): Outcome {
  if (status === "waitlisted") return { outcome: "waitlisted", message: "The key is good; the account is still on the waiting list." };
  return {
    outcome: "active",
    message: status === "active" ? "The key is good." : `The key is good; the service calls the account "${status}".`,
  };
}

function toRefusal(failure: Failure): Outcome {
  if (failure.code === "UPSTREAM_REFUSED_KEY") return { outcome: "refused", message: failure.message };
  const { status } = failure;
  const message = status >= 400 ? `The service answers ${status}: ${short(failure.message)}` : failure.message;
  if (status === 403) return { outcome: "forbidden", message };
  // A 429 may be about the plan: then waiting does not help.
  if (status === 402 || (status === 429 && codeByStatus(failure) === "PAYMENT_REQUIRED")) return { outcome: "unpaid", message };
  const { retryAfterMs } = failure;
  if (status === 429 || status >= 500) return { outcome: "failing", message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  // A page or a redirect: some server answers there.
  return { outcome: failure.code === "UPSTREAM_UNREADABLE" || status >= 400 ? "strange" : "unreachable", message };
}

/** The address may not be a service at all: only a short line of its words is repeated. */
function short(message: string): string {
  const line = message.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE - 1)}…` : line;
}
