import { type IncomingMessage } from "node:http";

export type Refused = { status: number; code: string; message: string; headers?: Record<string, string> };

/** `shared`: the same for every visitor with this key. `own`: rendered for this visitor only. */
export type VisitorAnswer =
  | { kind: "shared"; key: string; url: string; language: string }
  | { kind: "own" }
  | { kind: "redirect"; location: string }
  | { kind: "refused"; refused: Refused };

export type VisitorRules = {
  isMember(request: IncomingMessage): Promise<boolean>;
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
