// A route: an operation of the contract with the handler that answers it. What a handler is given was read with the operation's own
// schemas: it names no schema, and no parameter that the operation does not have.

import { type BodyOf, type Operation, type QueryOf } from "@/lib/contract/operation";
import { type User } from "../users/user";

export type Asked = {
  request: Request;
  /** Of the body, for what is too large to gather; undefined where there is none. To be read once, and instead of `request.body`. */
  bytes(): AsyncIterable<Uint8Array> | undefined;
  user: User;
  /** Public base of absolute URLs, without a slash at its end. */
  baseUrl: string;
};

/** What is read refuses what the operation does not take, when it is asked for: a handler decides what is looked at first. */
export type Call<O extends Operation> = Asked & {
  operation: O;
  /** Decoded. */
  param(name: NamesIn<O["path"]>): string;
  query(): QueryOf<O>;
  /** The JSON body. */
  body(): Promise<BodyOf<O>>;
};

type AnyCall = Asked & { operation: Operation; param(name: string): string; query(): unknown; body(): Promise<unknown> };
type Answer = Response | Promise<Response>;
export type Route = { operation: Operation; handle(call: AnyCall): Answer };

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The router reads with the schemas that QueryOf and BodyOf take the types from. */
export function route<const O extends Operation>(operation: O, handle: (call: Call<O>) => Answer): Route {
  return { operation, handle };
}
