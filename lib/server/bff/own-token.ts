// Clients send their key once more beside the graph, for nodes that call others with it. A token of this console is no key of theirs.
// Guarantees: no token in `extra_data` goes on to a service. The stored key is not put in its place: a graph could carry it elsewhere.

import "server-only";
import { isObject } from "@/lib/contract/json/json";
import { looksLikeToken } from "@/lib/contract/people/token-choices";

export function withoutTokens<T>(body: T): T {
  if (!isObject(body) || !isObject(body.extra_data)) return body;
  const kept = Object.entries(body.extra_data).filter(([, value]) => typeof value !== "string" || !looksLikeToken(value.trim()));
  return { ...body, extra_data: Object.fromEntries(kept) };
}
