// A route: an operation of the contract with the handler that answers it. Handlers read query and body with the contract's own schemas.

import { type Operation } from "@/lib/contract/operation";
import { type User } from "../users/user";

export type Call = {
  request: Request;
  user: User;
  /** Path parameters by the contract's names, decoded. */
  params: Readonly<Record<string, string>>;
  /** Public base of absolute URLs, without a slash at its end. */
  baseUrl: string;
};

export type Handler = (call: Call) => Response | Promise<Response>;
export type Route = { operation: Operation; handle: Handler };

export function route(operation: Operation, handle: Handler): Route {
  return { operation, handle };
}

/** The parameter is part of the path, so it is always there. */
export function param(call: Call, name: string): string {
  return call.params[name] ?? "";
}
