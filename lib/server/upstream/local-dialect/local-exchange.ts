// What every translation needs: further calls to the same local server, and JSON in and out.
// Guarantees: a further call carries the first one's signal and no body but its own; an answer is read within a bound;
// a refusal, or what is no JSON, is handed on as it came, for the reader of answers to judge.

import "server-only";
import { parseExactJson, writeExactJson } from "@/lib/contract/exact-json";
import { type Send } from "../send";
import { readBytes } from "../streams";
import { type EndedMemory } from "./ended-jobs";

const MOST_BYTES = 64 * 1024 ** 2;

export type LocalExchange = {
  request: Request;
  url: URL;
  /** What the pattern of the path caught, as it stands in the path. */
  caught: readonly string[];
  /** Where the server is: what comes before /api. */
  base: string;
  /** What was read before of the jobs that have ended at the servers there are. */
  ended: EndedMemory;
  /** The request as it is, but for its parameters where `change` says so (then it must have no body). */
  pass(change?: (query: URLSearchParams) => void): Promise<Response>;
  /** A call to the same server; `path` begins with /api. */
  ask(path: `/api/${string}`, how?: { json?: unknown; query?: Readonly<Record<string, string | number>> }): Promise<Response>;
};

export type Translation = {
  method: string;
  /** Of the path from /api on. */
  path: RegExp;
  speak(exchange: LocalExchange): Promise<Response>;
};

export function openExchange(send: Send, request: Request, caught: RegExpExecArray, ended: EndedMemory): LocalExchange {
  const url = new URL(request.url);
  const base = url.href.slice(0, url.href.length - url.search.length - caught[0].length);
  return {
    request,
    url,
    caught: caught.slice(1),
    base,
    ended,
    pass(change) {
      if (!change) return send(request);
      const target = new URL(url);
      change(target.searchParams);
      return send(new Request(target, { method: request.method, headers: request.headers, signal: request.signal, redirect: "manual" }));
    },
    ask(path, { json, query = {} } = {}) {
      const target = new URL(base + path);
      for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value));
      const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity" });
      const key = request.headers.get("x-api-key");
      if (key !== null) headers.set("x-api-key", key);
      if (json !== undefined) headers.set("content-type", "application/json");
      const method = json === undefined ? "GET" : "POST";
      const body = json === undefined ? undefined : writeExactJson(json);
      return send(new Request(target, { method, headers, body, signal: request.signal, redirect: "manual" }));
    },
  };
}

export type Read<T = unknown> = { ok: true; value: T } | { ok: false; answer: Response };

export async function readLocal(answer: Response): Promise<Read> {
  if (answer.status >= 300) return { ok: false, answer };
  const bytes = await readBytes(answer.body, MOST_BYTES);
  const text = bytes && new TextDecoder().decode(bytes);
  try {
    return { ok: true, value: text === undefined ? undefined : parseExactJson(text) };
  } catch {
    return { ok: false, answer: new Response(text, { status: answer.status, headers: answer.headers }) };
  }
}

/** An answer in the interface's words. */
export function translated(value: unknown, status = 200): Response {
  return new Response(writeExactJson(value), { status, headers: { "content-type": "application/json" } });
}

/** The path itself is not there, as in an older version: what is missing below a known path is told in JSON. */
export function isNoRoute({ status, headers }: Response): boolean {
  return status === 404 && !/\bjson\b/i.test(headers.get("content-type") ?? "");
}

/** What a local server does not have, said in one line. */
export function notThere(message: string): Response {
  return translated({ code: "NOT_IMPLEMENTED", message }, 501);
}
