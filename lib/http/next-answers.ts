// Where Next answers by itself, and not as the console does: a path that is not encoded as it should be (a fault of its own, to Next), methods
// that an address has not or that is unknown (no body), and the length of a body (left out).
// Guarantees: the envelope of every other refusal, with an id and, for 405, the methods that the address has; an answer with a body of its
// own is left alone.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Refused } from "./refusals";

/** Of an address whose path cannot be read. */
export function judgeEncoding({ url = "" }: IncomingMessage): Refused | undefined {
  try {
    decodeURIComponent(url.split(/[?#]/)[0] ?? "");
    return undefined;
  } catch {
    return {
      status: 400,
      code: "BAD_REQUEST",
      message: "The address is not encoded as it should be: a part of it was cut off or changed.",
    };
  }
}

/** The length has a header of its own, and the one that carried it through Next (`carrier`) does not go out. */
export function sayLength(response: ServerResponse, carrier: string): void {
  const { setHeader } = response;
  response.setHeader = (name, value) =>
    name === carrier ? setHeader.call(response, "content-length", String(value)) : setHeader.call(response, name, value);
}

export type AskMethods = (path: string) => Promise<string | undefined>;

type Refusal = { code: string; message: string };
const said: Readonly<Record<number, Refusal>> = {
  400: { code: "BAD_REQUEST", message: "This method is not known here." },
  405: { code: "METHOD_NOT_ALLOWED", message: "This address has no such method." },
};

export function sayRefusals(request: IncomingMessage, response: ServerResponse, askMethods: AskMethods): void {
  const { url = "", method } = request;
  if (!/^\/api(\/|$)/.test(url) || method === "OPTIONS") return;
  const { writeHead, flushHeaders, write, end } = response;
  let held: Refusal | undefined;
  const hold = (status: number) => (response.headersSent || response.hasHeader("content-type") ? undefined : (held = said[status]));

  // The head may be sent before it is known that nothing follows: it waits for what does. Node takes these arguments in several orders.
  response.writeHead = (status: number, ...more: unknown[]): ServerResponse => {
    if (more.length > 0 || !hold(status)) return Reflect.apply(writeHead, response, [status, ...more]);
    response.statusCode = status;
    return response;
  };
  response.flushHeaders = () => {
    if (!hold(response.statusCode)) flushHeaders.call(response);
  };
  response.write = (...given: unknown[]): boolean => {
    if (held && !response.headersSent) writeHead.call(response, response.statusCode);
    return Reflect.apply(write, response, given);
  };
  response.end = (...given: unknown[]): ServerResponse => {
    const isEmpty = given[0] === undefined || given[0] === null || typeof given[0] === "function";
    const refusal = hold(response.statusCode);
    if (refusal && isEmpty) void refuse(response.statusCode, refusal);
    else Reflect.apply(end, response, given);
    return response;
  };

  async function refuse(status: number, refusal: Refusal): Promise<void> {
    const allow = status === 405 ? await askMethods(url) : undefined;
    const id = randomUUID();
    const body = writeExactJson({ ...refusal, request_id: id });
    const headers = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };
    const length = { "content-length": Buffer.byteLength(body) };
    writeHead.call(response, status, { ...headers, "x-request-id": id, ...length, ...(allow && { allow }) });
    Reflect.apply(end, response, method === "HEAD" ? [] : [body]);
  }
}
