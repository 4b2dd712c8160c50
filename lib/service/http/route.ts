// A route: an operation of the contract with the handler that answers it. Handlers read query and body with the contract's own schemas,
// and name path parameters as the contract's path does: another name does not compile.

import { type Operation } from "@/lib/contract/operation";
import { type User } from "../users/user";

/** `Names`: the parameters in the operation's path. */
export type Call<Names extends string = never> = {
  request: Request;
  /** Of the body, for what is too large to gather; undefined where there is none. To be read once, and instead of `request.body`. */
  bytes(): AsyncIterable<Uint8Array> | undefined;
  user: User;
  /** Decoded. */
  param(name: Names): string;
  /** Public base of absolute URLs, without a slash at its end. */
  baseUrl: string;
};

export type Route = { operation: Operation; handle(call: Call<string>): Response | Promise<Response> };

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

export function route<const O extends Operation>(
  operation: O,
  handle: (call: Call<NamesIn<O["path"]>>) => Response | Promise<Response>,
): Route {
  return { operation, handle };
}
