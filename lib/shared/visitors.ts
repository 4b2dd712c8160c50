// The types that the console's HTTP server and its pages share for clients without a session, between lib/http and lib/server.
import { type IncomingMessage } from "node:http";

/** A request refused before routing. */
export type Refused = { status: number; code: string; message: string; headers?: Record<string, string> };

/** `shared`: the page of `url` in this language, the same for every visitor with this key. `own`: rendered for this visitor only. */
export type VisitorAnswer =
  | { kind: "shared"; key: string; url: string; language: string }
  | { kind: "own" }
  | { kind: "redirect"; location: string }
  | { kind: "refused"; refused: Refused };

export type VisitorRules = {
  /** Whether the request has a valid session. */
  isMember(request: IncomingMessage): Promise<boolean>;
  /** The response to a request without a session. */
  answerFor(request: IncomingMessage): Promise<VisitorAnswer>;
};

/** A page's URL without the parameter that Next's router adds to its own requests. */
export function withoutRouterQuery(url: string): string {
  const [path = "", query] = url.split("?", 2);
  const params = (query ?? "").split("&").filter((part) => part !== "" && part !== "_rsc" && !part.startsWith("_rsc="));
  return params.length === 0 ? path : `${path}?${params.join("&")}`;
}

export function isApi(url: string): boolean {
  return /^\/api(?=[/?#]|$)/.test(url);
}

/** Pages, and the sign-in routes. Other routes refuse a request without a session before they do any work. */
export function isForVisitors(url: string): boolean {
  return !isApi(url) || /^\/api\/auth(?=[/?#]|$)/.test(url);
}
