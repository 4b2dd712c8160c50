// A route of the console's own resources, behind the same guard as the interface's.

import "server-only";
import { type z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, type Result } from "@/lib/shared/result";
import { clientAddress } from "../limits/client-address";
import { type Asked, type Guard, guarded, type Handler, type Opened, refusal, unguarded } from "./guard";
import { LONGEST_OF_STRANGERS, readJson } from "./read-request";

type Run<A, B> = (asked: A, body: B) => Promise<Result<Response, Failure>>;
/** The weakest role allowed, or more of the guard. */
type Needs = Role | (Omit<Guard, "action" | "connection" | "role"> & { role: Role });

export function consoleRoute(action: string, needs: Needs, run: (asked: Asked) => Promise<Result<Response, Failure>>): Handler {
  return guarded({ action, connection: false, ...(typeof needs === "string" ? { role: needs } : needs) }, run);
}

export function consoleBodyRoute<T>(action: string, needs: Needs, schema: z.ZodType<T>, run: Run<Asked, T>): Handler {
  return consoleRoute(action, needs, async (asked) => {
    const body = await readJson(asked.request, schema);
    return body.ok ? run(asked, body.value) : body;
  });
}

/** Needs no session: the token in the body is the credential. Attempts are limited by address. */
export function tokenRoute<T>(action: string, schema: z.ZodType<T>, run: Run<Opened, T>): Handler {
  return unguarded(action, async (opened) => {
    const { tokenLimit } = opened.console;
    const network = networkOf(clientAddress(opened.request));
    const waitMs = await tokenLimit.take(network);
    if (waitMs > 0) return failed({ ...refusal("RATE_LIMITED", "Too many attempts. Try again later."), retryAfterMs: waitMs });
    const body = await readJson(opened.request, schema, LONGEST_OF_STRANGERS);
    if (!body.ok) return body;
    const result = await run(opened, body.value);
    // Colleagues behind one address join one after the other.
    if (result.ok) await tokenLimit.giveBack(network);
    return result;
  });
}

/** The id in the route's [id] folder; an empty one matches nothing. */
export function idOf({ params }: Pick<Opened, "params">): string {
  return typeof params.id === "string" ? params.id : "";
}
