// Types that the HTTP servers share with the code for visitors and events.
import { type IncomingMessage } from "node:http";

export type ErrorResponse = { status: number; code: string; message: string; headers?: Record<string, string> };

/** `shared` is the same for all visitors with this key. `own` is rendered for this visitor only. */
export type VisitorResponse =
  | { kind: "shared"; key: string; url: string; language: string }
  | { kind: "own" }
  | { kind: "redirect"; location: string }
  | { kind: "refused"; error: ErrorResponse };

export type VisitorRules = {
  isMember(request: IncomingMessage): Promise<boolean>;
  getResponse(request: IncomingMessage): Promise<VisitorResponse>;
};

export function removeRouterQuery(url: string): string {
  const [path = "", query] = url.split("?", 2);
  const params = (query ?? "").split("&").filter((part) => part !== "" && part !== "_rsc" && !part.startsWith("_rsc="));
  return params.length === 0 ? path : `${path}?${params.join("&")}`;
}

export function isApiUrl(url: string): boolean {
  return /^\/api(?=[/?#]|$)/.test(url);
}

/** Returns true for pages and sign-in routes. Other routes reject requests without a session first. */
export function allowsVisitors(url: string): boolean {
  return !isApiUrl(url) || /^\/api\/auth(?=[/?#]|$)/.test(url);
}

/** A close code of RFC 6455 (or a private one from 4000 on) and a sentence of at most 123 bytes. */
export type FeedEnd = { code: number; reason: string };

export type FeedTarget = {
  send(message: string | Uint8Array): void;
  end(end: FeedEnd): void;
};

export type Feed = {
  stop(): void;
  findDenialReason(): string | undefined | Promise<string | undefined>;
};

export type FeedAdmission =
  { ok: true; owner: string; open(target: FeedTarget): Promise<Feed | undefined> } | { ok: false; error: ErrorResponse };

export const feedCloseCodes = {
  goingAway: 1001,
  notAllowed: 1008,
  tryLater: 1013,
  notFound: 4404,
} as const;
