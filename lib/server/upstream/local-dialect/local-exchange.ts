// Context of a translated request: the request, the server's client, and helpers for responses.

import "server-only";
import { type ComfyClient, createComfyClient, type JsonBounds } from "@/lib/comfyui/client";
import { meterJsonStream } from "@/lib/comfyui/http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { failed, ok, type Result } from "@/lib/shared/result";
import { keyHeader } from "../outgoing";
import { parseAnswer, TooLargeAnswer } from "../read-body";
import { type Send } from "../send";
import { oneChunk } from "../streams";
import { type LocalJob } from "./local-entries";

const KNOWN_MS = 60_000;
const MAX_SERVERS = 20;

/** `isCut`: the server has older ones. */
export type Ended = { newestFirst: readonly LocalJob[]; isCut: boolean };
type EndedMemory = ReturnType<typeof createEndedMemory>;

/** The ended jobs of servers whose list is made from their history. */
export function createEndedMemory(now: () => number) {
  const servers = createLru<string, { ended: Ended; at: number }>({ max: MAX_SERVERS });
  return {
    now,
    of(base: string): Ended | undefined {
      const one = servers.get(base);
      return one && now() - one.at < KNOWN_MS ? one.ended : undefined;
    },
    /** `isWhole`: the history was just read completely; otherwise the entries read before keep their age. */
    keep(base: string, ended: Ended, isWhole: boolean): void {
      servers.set(base, { ended, at: isWhole ? now() : (servers.get(base)?.at ?? 0) });
    },
    forget: (base: string) => void servers.delete(base),
  };
}

type Question = { json?: unknown; query?: Readonly<Record<string, string | number>> | undefined };

export type LocalExchange = {
  request: Request;
  url: URL;
  /** The groups caught by the path's pattern, as they are in the path. */
  caught: readonly string[];
  /** The server's address: everything before /api. */
  base: string;
  ended: EndedMemory;
  /** The client id with which the console submits and listens. */
  clientId: string;
  /** Sends the request unchanged, or with parameters changed by `change` (then it must have no body). */
  pass(change?: (query: URLSearchParams) => void): Promise<Response>;
  /** Calls the same server; `path` begins with /api. */
  ask(path: `/api/${string}`, question?: Question): Promise<Response>;
  /** The same server; a failure is the answer to pass on. */
  server: ComfyClient<Response>;
};

/** Ends a translation with this answer. */
export class EarlyAnswer extends Error {
  constructor(readonly answer: Response) {
    super("a local server's answer is passed on");
  }
}

/** The server's answer is not JSON. It matches no schema, so validation rejects it. */
export class NotJson extends EarlyAnswer {
  constructor() {
    super(new Response("no JSON"));
  }
}

export async function valueOf<T>(read: Promise<Result<T, Response>>): Promise<T> {
  const result = await read;
  if (!result.ok) throw new EarlyAnswer(result.failure);
  return result.value;
}

export const idIn = ({ caught }: LocalExchange): string => decodeURIComponent(caught[0] ?? "");

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

  function ask(path: `/api/${string}`, { json, query = {} }: Question = {}): Promise<Response> {
    const target = new URL(base + path);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value));
    const key = keyHeader(request.headers.get("x-api-key"));
    const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity", ...key });
    if (json !== undefined) headers.set("content-type", "application/json");
    const method = json === undefined ? "GET" : "POST";
    const body = json === undefined ? undefined : writeExactJson(json);
    return send(new Request(target, { method, headers, body, signal: request.signal, redirect: "manual" }));
  }

  return {
    request,
    url,
    caught: caught.slice(1),
    base,
    ended,
    clientId,
    ask,
    pass(change) {
      if (!change) return send(request);
      const target = new URL(url);
      change(target.searchParams);
      return send(new Request(target, { method: request.method, headers: request.headers, signal: request.signal, redirect: "manual" }));
    },
    server: createComfyClient(
      // A queue contains the graphs of all its jobs.
      async (path, { body, bounds } = {}) => readLocal(await ask(`/api${path}`, { json: body }), path === "/queue" ? bounds : undefined),
      () => translated(null),
    ),
  };
}

/** `bounds`: if the answer is too large, values below their depth are skipped. */
export async function readLocal(answer: Response, bounds?: JsonBounds): Promise<Result<unknown, Response>> {
  if (answer.status >= 300 || /^\s*text\/html\b/i.test(answer.headers.get("content-type") ?? "")) return failed(answer);
  const parsed = await parseAnswer(answer.body).catch(async (error: unknown) => {
    if (!bounds || !(error instanceof TooLargeAnswer) || !error.whole) throw error;
    const upper = await meterJsonStream(error.whole, bounds);
    if (!upper.ok) throw new TooLargeAnswer();
    return parseAnswer(oneChunk(Buffer.from(upper.value)));
  });
  if (!parsed.ok) throw new NotJson();
  return ok(parsed.value);
}

/** For an answer that may be missing: undefined if it is too large. */
export function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof TooLargeAnswer)) throw error;
  error.discard();
}

/** An answer in the interface's words. */
export function translated(value: unknown, status = 200): Response {
  return new Response(writeExactJson(value), { status, headers: { "content-type": "application/json" } });
}

export const noSuchJob = () => translated({ code: "NOT_FOUND", message: "The server knows no such job." }, 404);

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
