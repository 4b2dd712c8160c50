// What the console's HTTP server and its pages agree on about clients without a session: the types between lib/http and lib/server.
import { type IncomingMessage } from "node:http";

type Refused = { status: number; code: string; message: string; headers?: Record<string, string> };

/** `shared`: the page of `url` in this language, the same for every visitor with this key. `own`: rendered for this visitor alone. */
export type VisitorAnswer =
  | { kind: "shared"; key: string; url: string; language: string }
  | { kind: "own" }
  | { kind: "redirect"; location: string }
  | { kind: "refused"; refused: Refused };

export type VisitorRules = {
  /** Whether the request belongs to a session that is valid now. */
  isMember(request: IncomingMessage): Promise<boolean>;
  /** How to answer a request that belongs to none. */
  answerFor(request: IncomingMessage): Promise<VisitorAnswer>;
};

/** A page's address without the parameter that Next's router adds to its own requests. */
export function withoutRouterQuery(url: string): string {
  const [path = "", query] = url.split("?", 2);
  const kept = (query ?? "").split("&").filter((part) => part !== "" && part !== "_rsc" && !part.startsWith("_rsc="));
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

export function isApi(url: string): boolean {
  return /^\/api(?=[/?#]|$)/.test(url);
}

/** Pages, and the routes of the sign-in. Other routes refuse a request without a session before they do anything. */
export function isForVisitors(url: string): boolean {
  return !isApi(url) || /^\/api\/auth(?=[/?#]|$)/.test(url);
}
