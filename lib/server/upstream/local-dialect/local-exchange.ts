// Translates requests and responses of a local server to the interface.

import "server-only";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson, parseServiceJson, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { createLru } from "@/lib/shared/lru";
import { UnreadableAnswer } from "../failures";
import { LARGE_ANSWER, type LargeAnswers } from "../large-answers";
import { keyHeader } from "../outgoing";
import { TOO_LARGE } from "../read-body";
import { type Send } from "../send";
import { oneChunk, readBytes } from "../streams";
import { type LocalJob } from "./local-entries";

/** `say` returns undefined if the requested thing does not exist; it throws what its schemas throw. */
type Wording<Args, T> = { name: string; say(answers: readonly unknown[], args: Args): T };

/** The type of a wording of which only the name is known. */
export type AnyWording = Wording<never, unknown>;

export function wording<Args = undefined, T = unknown>(
  name: string,
  say: (answers: readonly unknown[], args: Args) => T,
): Wording<Args, T> {
  return { name, say };
}

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

const MOST_BYTES = 64 * 1024 ** 2;
/** Enough for more jobs than anyone waits for at once. */
const MOST_LEARNT_BYTES = 8 * 1024 ** 2;

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
  /** Calls the same server; `path` begins with /api, `json` is already written. */
  ask(path: `/api/${string}`, how?: { json?: Uint8Array; query?: Readonly<Record<string, string | number>> }): Promise<Response>;
  /** Makes an answer from the server's answers; the bytes are transferred. Undefined if the requested thing does not exist. */
  say<Args>(wording: Wording<Args, unknown>, answers: readonly Uint8Array[], args: Args): Promise<Response | undefined>;
  /** The same as bytes. */
  write<Args>(wording: Wording<Args, unknown>, answers: readonly Uint8Array[], args: Args): Promise<Uint8Array | undefined>;
  /** The little that this process needs to know of it. */
  learn<Args, T>(wording: Wording<Args, T>, answers: readonly Uint8Array[], args: Args): Promise<T>;
};

/** The server's answer is not a local server's. */
export class Misread extends Error {
  constructor(readonly isJson: boolean) {
    super("a local server says something else");
  }
}

export type Translation = {
  method: string;
  /** For the path from /api on. */
  path: RegExp;
  speak(exchange: LocalExchange): Promise<Response>;
};

type LocalTools = { send: Send; ended: EndedMemory; largeAnswers: Pick<LargeAnswers, "word">; clientId: string };

export function openExchange(
  { send, ended, largeAnswers, clientId }: LocalTools,
  request: Request,
  caught: RegExpExecArray,
): LocalExchange {
  const url = new URL(request.url);
  const base = url.href.slice(0, url.href.length - url.search.length - caught[0].length);

  async function elsewhere(name: string, answers: readonly Uint8Array[], args: unknown): Promise<Uint8Array | undefined> {
    const worded = await largeAnswers.word(answers, { name, args }, request.signal);
    if (worded.ok) return worded.json;
    throw "why" in worded ? new UnreadableAnswer(worded.why) : new Misread(worded.isJson);
  }
  const write: LocalExchange["write"] = async (wording, answers, args) => {
    if (isLarge(answers)) return elsewhere(wording.name, answers, args);
    const value = onTheSpot(wording, answers, args);
    return value === undefined ? undefined : toBytes(value);
  };
  return {
    request,
    url,
    write,
    async say(wording, answers, args) {
      const json = await write(wording, answers, args);
      return json && inJson(json);
    },
    async learn<Args, T>(wording: Wording<Args, T>, answers: readonly Uint8Array[], args: Args) {
      if (!isLarge(answers)) return onTheSpot(wording, answers, args);
      const json = await elsewhere(wording.name, answers, args);
      if (json && json.byteLength > MOST_LEARNT_BYTES) throw new UnreadableAnswer(TOO_LARGE);
      return parseExactJson<T>(json ? toText(json) : "null");
    },
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
      const body = json && new Uint8Array(json);
      return send(new Request(target, { method, headers, body, signal: request.signal, redirect: "manual" }));
    },
  };
}

type Read = { ok: true; bytes: Uint8Array } | { ok: false; answer: Response };

export async function readLocal(answer: Response): Promise<Read> {
  if (answer.status >= 300 || /^\s*text\/html\b/i.test(answer.headers.get("content-type") ?? "")) return { ok: false, answer };
  const bytes = await readBytes(answer.body, MOST_BYTES);
  if (!bytes) throw new UnreadableAnswer(TOO_LARGE);
  return { ok: true, bytes };
}

function isLarge(answers: readonly Uint8Array[]): boolean {
  return answers.reduce((sum, { byteLength }) => sum + byteLength, 0) > LARGE_ANSWER;
}

function onTheSpot<Args, T>(wording: Wording<Args, T>, answers: readonly Uint8Array[], args: Args): T {
  try {
    return wording.say(
      answers.map((bytes) => parseServiceJson(toText(bytes))),
      args,
    );
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError) throw new Misread(error instanceof z.ZodError);
    throw error instanceof TooManyExactNumbers ? new UnreadableAnswer(TOO_LARGE) : error;
  }
}

const toText = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
export const toBytes = (value: unknown) => new TextEncoder().encode(writeExactJson(value));

/** An answer in the interface's words. */
export function translated(value: unknown, status = 200): Response {
  return new Response(writeExactJson(value), { status, headers: jsonHeaders });
}

const jsonHeaders = { "content-type": "application/json" };

function inJson(bytes: Uint8Array): Response {
  return new Response(oneChunk(bytes), { headers: jsonHeaders });
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
