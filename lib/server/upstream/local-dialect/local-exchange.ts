// Translates requests and responses of a local server to the interface.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { keyHeader } from "../outgoing";
import { parseAnswer } from "../read-body";
import { type Send } from "../send";
import { type LocalJob } from "./local-entries";

const KNOWN_MS = 60_000;
const MAX_SERVERS = 20;

/** `isCut`: the server has older ones. */
export type Ended = { newestFirst: readonly LocalJob[]; isCut: boolean };
type Known = { ended: Ended; at: number };
type EndedMemory = {
  now(): number;
  of(base: string): Ended | undefined;
  /** Called when the history was just read completely. */
  keep(base: string, ended: Ended): void;
  /** Adds jobs; the entries read before keep their age. */
  extend(base: string, ended: Ended): void;
  forget(base: string): void;
};

export function createEndedMemory(now: () => number): EndedMemory {
  const servers = createLru<string, Known>({ max: MAX_SERVERS });
  return {
    now,
    of(base) {
      const one = servers.get(base);
      return one && now() - one.at < KNOWN_MS ? one.ended : undefined;
    },
    keep(base, ended) {
      servers.set(base, { ended, at: now() });
    },
    extend(base, ended) {
      const one = servers.get(base);
      if (one) one.ended = ended;
    },
    forget: (base) => void servers.delete(base),
  };
}

export type LocalExchange = {
  request: Request;
  url: URL;
  /** The groups caught by the path's pattern, as they are in the path. */
  caught: readonly string[];
  /** The server's address: everything before /api. */
  base: string;
  /** The remembered ended jobs of local servers. */
  ended: EndedMemory;
  /** The client id with which the console submits and listens. */
  clientId: string;
  /** Sends the request unchanged, or with parameters changed by `change` (then it must have no body). */
  pass(change?: (query: URLSearchParams) => void): Promise<Response>;
  /** Calls the same server; `path` begins with /api. */
  ask(path: `/api/${string}`, how?: { json?: unknown; query?: Readonly<Record<string, string | number>> }): Promise<Response>;
};

/** The server's answer is not JSON. */
export class NotJson extends Error {}

export type Translation = {
  method: string;
  /** For the path from /api on. */
  path: RegExp;
  speak(exchange: LocalExchange): Promise<Response>;
};

type LocalTools = { send: Send; ended: EndedMemory; clientId: string };

export function openExchange({ send, ended, clientId }: LocalTools, request: Request, caught: RegExpExecArray): LocalExchange {
  const url = new URL(request.url);
  const base = url.href.slice(0, url.href.length - url.search.length - caught[0].length);
  return {
    request,
    url,
    caught: caught.slice(1),
    base,
    ended,
    clientId,
    pass(change) {
      if (!change) return send(request);
      const target = new URL(url);
      change(target.searchParams);
      return send(new Request(target, { method: request.method, headers: request.headers, signal: request.signal, redirect: "manual" }));
    },
    ask(path, { json, query = {} } = {}) {
      const target = new URL(base + path);
      for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value));
      const key = keyHeader(request.headers.get("x-api-key"));
      const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity", ...key });
      if (json !== undefined) headers.set("content-type", "application/json");
      const method = json === undefined ? "GET" : "POST";
      const body = json === undefined ? undefined : writeExactJson(json);
      return send(new Request(target, { method, headers, body, signal: request.signal, redirect: "manual" }));
    },
  };
}

type Read = { ok: true; value: unknown } | { ok: false; answer: Response };

export async function readLocal(answer: Response): Promise<Read> {
  if (answer.status >= 300 || /^\s*text\/html\b/i.test(answer.headers.get("content-type") ?? "")) return { ok: false, answer };
  const parsed = await parseAnswer(answer.body);
  if (!parsed.ok) throw new NotJson();
  return { ok: true, value: parsed.value };
}

/** An answer in the interface's words. */
export function translated(value: unknown, status = 200): Response {
  return new Response(writeExactJson(value), { status, headers: { "content-type": "application/json" } });
}

/** The path itself does not exist, as in an older version: a missing item below a known path is reported in JSON. */
export function isNoRoute({ status, headers }: Response): boolean {
  return status === 404 && !/\bjson\b/i.test(headers.get("content-type") ?? "");
}

/** The server has no list of jobs, or a damaged job makes it fail, so its queue and history are read instead. */
export function hasNoJobs(answer: Response): boolean {
  return isNoRoute(answer) || answer.status === 500;
}

/** What a local server lacks, in one line. */
export function notThere(message: string): Response {
  return translated({ code: "NOT_IMPLEMENTED", message }, 501);
}
