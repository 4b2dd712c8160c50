// Defines the messages between an embedded page and its host page. Both sides check exact origins. A ticket is used for a single
// request and sent in its body, never in a URL.

import { type EmbedTheme, embedThemes, findEmbedPage } from "@/lib/contract/embed/embed-pages";
import { asObject } from "@/lib/contract/json/json";
import { type Language, languages } from "@/lib/shared/languages";

const MAX_TICKET_LENGTH = 8000;
const MAX_URL_LENGTH = 2000;

export type HostMessage =
  | { type: "ticket"; ticket: string; theme?: EmbedTheme; language?: Language }
  | { type: "no-ticket" }
  | { type: "navigate"; to: `/${string}` }
  | { type: "theme"; theme: EmbedTheme }
  | { type: "language"; language: Language }
  | { type: "height"; follow: boolean }
  | { type: "choose-asset" }
  | { type: "end" };
export type TicketMessage = Extract<HostMessage, { type: "ticket" }>;

export function isEmbedUrl(to: unknown): to is `/${string}` {
  if (typeof to !== "string" || to.length > MAX_URL_LENGTH || !/^\/(?![/\\])/.test(to)) return false;
  const { pathname } = new URL(`http://localhost/base${to}`);
  return pathname.startsWith("/base/") && findEmbedPage(pathname.slice("/base".length)) !== undefined;
}

export function isFileUrl(to: string): to is `/${string}` {
  return to.startsWith("/api/");
}

function parseHostMessage(data: unknown): HostMessage | undefined {
  const message = asObject(data);
  if (message?.lightdesk !== 1) return undefined;
  const { type, ticket, to, follow } = message;
  const theme = embedThemes.find((name) => name === message.theme);
  const language = languages.find((name) => name === message.language);
  if (type === "ticket" && typeof ticket === "string" && ticket !== "" && ticket.length <= MAX_TICKET_LENGTH)
    return { type, ticket, theme, language };
  if (type === "navigate" && isEmbedUrl(to)) return { type, to };
  if (type === "theme" && theme) return { type, theme };
  if (type === "language" && language) return { type, language };
  if (type === "height" && typeof follow === "boolean") return { type, follow };
  return type === "no-ticket" || type === "choose-asset" || type === "end" ? { type } : undefined;
}

export const endReasons = ["host", "expired", "refused"] as const;
export type EndReason = (typeof endReasons)[number];

export type HostEvent =
  | { type: "want-ticket" }
  | { type: "ready"; page: string; keeps: "cookie" | "memory" }
  | { type: "navigated"; path: string }
  | { type: "job-submitted"; id: string }
  | { type: "job-ended"; id: string; status: string }
  | { type: "asset-chosen"; id: string; name: string; hash: string | null }
  /** `changed`: the session continues with different permissions. */
  | { type: "session-ended"; reason: "changed" | EndReason }
  | { type: "error"; reason: "no-ticket" | "ticket" | "unreachable" | "console" | "storage" | "unknown-host" }
  | { type: "height"; height: number };

export function isFramed(): boolean {
  return window.parent !== window;
}

export function postToHost(origins: readonly string[], event: HostEvent): void {
  // Posts to each exact origin, so that no other window receives the message.
  if (isFramed()) for (const origin of origins) window.parent.postMessage({ lightdesk: 1, ...event }, origin);
}

export function onHostMessage(origins: readonly string[], receive: (message: HostMessage, origin: string) => void): () => void {
  const onMessage = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (!isFramed() || source !== window.parent || !origins.includes(origin)) return;
    const message = parseHostMessage(data);
    if (message) receive(message, origin);
  };
  window.addEventListener("message", onMessage);
  return () => window.removeEventListener("message", onMessage);
}
