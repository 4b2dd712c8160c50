// Manages the session of an embedded page. It is stored in a cookie if the browser allows it, otherwise as a bearer token in memory.

import { type EmbedSessionStarted } from "@/lib/contract/embed/embedding";
import { callApi } from "../api";
import { type ApiFailure, CONSOLE_UNREACHABLE } from "../api-failure";
import { toSessionlessPath } from "../urls";
import { type TicketMessage } from "./host-page";

const WORKER_TIMEOUT_MS = 10_000;

export type StartEmbedSessionResult =
  | { ok: true; leftMs: number; isSame: boolean; keeps: "cookie" | "memory" }
  | { ok: false; reason: "ticket" | "unreachable" | "console" | "storage" | "unknown-host" };

let bearer: string | undefined;

export async function startEmbedSession({ ticket, theme, language }: TicketMessage, origin: string): Promise<StartEmbedSessionResult> {
  const result = await callApi<EmbedSessionStarted>("/api/embed/tickets", { method: "POST", json: { ticket, origin } });
  if (!result.ok) return { ok: false, reason: getFailureReason(result.failure) };
  const { leftMs, isSame, bearer: newBearer } = result.value;
  if (newBearer !== undefined && !(await sendBearerToWorker(newBearer))) return { ok: false, reason: "storage" };
  const appearance = { ...(theme && { theme }), ...(language && { language }) };
  if (Object.keys(appearance).length > 0) await callApi("/api/embed/session", { method: "PATCH", json: appearance });
  return { ok: true, leftMs, isSame, keeps: newBearer === undefined ? "cookie" : "memory" };
}

export async function endEmbedSession(): Promise<void> {
  await callApi("/api/embed/session", { method: "DELETE" });
  bearer = undefined;
  navigator.serviceWorker?.controller?.postMessage({ kind: "forget" });
}

/** `ticket`: the console rejected the ticket itself. `console`: a server error, such as a full disk. */
function getFailureReason({ code, status }: ApiFailure): "ticket" | "unreachable" | "console" | "unknown-host" {
  if (status === 404) return "unknown-host";
  if (status === 400 || status === 401 || status === 413) return "ticket";
  return code === CONSOLE_UNREACHABLE || status === 429 ? "unreachable" : "console";
}

/** A restarted service worker requests the bearer from its pages, and a new page requests it from the service worker. */
export function shareBearer(): () => void {
  const { serviceWorker } = navigator;
  if (!serviceWorker?.controller) return () => undefined;
  void queryWorker(serviceWorker.controller, { kind: "tell" }).then((response) => {
    if (typeof response === "string") bearer ??= response;
  });
  const onMessage = ({ data, ports: [port] }: MessageEvent<{ kind?: string }>) => {
    if (data.kind === "ask") port?.postMessage(bearer);
  };
  serviceWorker.addEventListener("message", onMessage);
  return () => serviceWorker.removeEventListener("message", onMessage);
}

export function isSessionInMemory(): boolean {
  return navigator.serviceWorker?.controller != null;
}

async function sendBearerToWorker(newBearer: string): Promise<boolean> {
  try {
    const { serviceWorker } = navigator;
    await serviceWorker.register(toSessionlessPath("/embed-worker.js"), { scope: toSessionlessPath("/embed/") });
    const { active } = await serviceWorker.ready;
    if (!active || (await queryWorker(active, { kind: "keep", bearer: newBearer })) !== newBearer) return false;
    bearer = newBearer;
    return true;
  } catch {
    // Service workers need https and storage, which private windows may not provide.
    return false;
  }
}

function queryWorker(worker: ServiceWorker, message: { kind: string; bearer?: string }): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), WORKER_TIMEOUT_MS);
    port1.onmessage = ({ data }: MessageEvent<unknown>) => {
      clearTimeout(timer);
      resolve(data);
    };
    worker.postMessage(message, [port2]);
  });
}
