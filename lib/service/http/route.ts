// A route: an operation of the contract with the handler that answers it. The handler gets what was read with the operation's own schemas:
// it names no schema, and no parameter that the operation does not have.

import { type BodyOf, type Operation, type QueryOf } from "@/lib/contract/operation";
import { type User } from "../users/keys";

export type Asked = {
  request: Request;
  /**
   * The bytes of the body, for what is too large to gather; undefined if there is no body. To be read once, and instead of `request.body`.
   */
  bytes(): AsyncIterable<Uint8Array> | undefined;
  user: User;
  /** The public base of absolute URLs, without a slash at its end. */
  baseUrl: string;
};

/** Each reader refuses what the operation does not accept, at the moment it is called: the handler decides what is checked first. */
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

/** The router reads with the same schemas from which QueryOf and BodyOf take their types. */
export function route<const O extends Operation>(operation: O, handle: (call: Call<O>) => Answer): Route {
  return { operation, handle };
}
