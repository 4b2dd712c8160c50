// Sign-in by a header that a reverse proxy sets: the settings, and from which addresses the header is accepted.
// Guarantees: only from the named addresses, judged by the socket and not by the request's own words; a request from elsewhere that brings
// the header is refused, and its value reaches no route. Does not import the store, because the launcher uses it.

import "server-only";
import { type IncomingMessage } from "node:http";
import { z } from "zod";
import { type Role } from "@/lib/contract/people/roles";
import { isInNetworks, type networks } from "@/lib/shared/ip-address";
import { VOUCHED_HEADER } from "./auth/session-cookie";
import { domainsExpected, domainsSchema, type Fail, type Read, signUpExpected, signUpSchema } from "./sign-in-settings";
import { networkList } from "./trusted-proxies";

export type ProxySignIn = {
  /** Lower case. */
  header: string;
  from: ReturnType<typeof networks>;
  /** The role of people who are not members yet; undefined: they are not made members. */
  signUp: Role | undefined;
  /** Lower case; empty: any domain. */
  domains: readonly string[];
  /** Where the proxy ends its own session. */
  signOutUrl: string | undefined;
};

/** Headers that browsers and other settings use. */
const takenNames =
  /^(cookie|host|origin|authorization|x-api-key|x-forwarded-for|user-agent|referer|accept.*|sec-.*|content-.*|x-lightdesk-.*)$/;
const nameSchema = z
  .string()
  .toLowerCase()
  .regex(/^[a-z][a-z0-9-]{1,60}$/)
  .refine((name) => !takenNames.test(name));

export function readProxySignIn(read: Read, fail: Fail): ProxySignIn | undefined {
  const header = read("LIGHTDESK_AUTH_HEADER", nameSchema, "the name of a header of its own, such as x-forwarded-email");
  const from = read("LIGHTDESK_AUTH_HEADER_FROM", networkList, "addresses or networks, such as 127.0.0.1,10.0.0.0/8");
  const signUp = read("LIGHTDESK_AUTH_HEADER_SIGN_UP", signUpSchema, signUpExpected) ?? "no";
  const domains = read("LIGHTDESK_AUTH_HEADER_DOMAINS", domainsSchema, domainsExpected);
  const signOutUrl = read(
    "LIGHTDESK_AUTH_HEADER_SIGN_OUT",
    z.url({ protocol: /^https?$/ }),
    "the address where the proxy ends its session",
  );
  if (header === undefined && from === undefined) return undefined;
  if (header === undefined || from === undefined) return fail("LIGHTDESK_AUTH_HEADER and LIGHTDESK_AUTH_HEADER_FROM must be set together.");
  if (signUp !== "no" && domains === undefined)
    return fail(
      "LIGHTDESK_AUTH_HEADER_DOMAINS must be set with LIGHTDESK_AUTH_HEADER_SIGN_UP: the domains whose people become members, or * for everybody.",
    );
  const named = domains === undefined || domains === "*" ? [] : domains.split(",");
  return { header, from, signUp: signUp === "no" ? undefined : signUp, domains: named, signOutUrl };
}

type Refused = { status: number; code: string; message: string };

/** Runs before any route. Undefined if nothing is wrong; the proxy's value is then under the one name that routes read. */
export function takeVouched({ headers, socket }: IncomingMessage, rule: ProxySignIn | undefined): Refused | undefined {
  delete headers[VOUCHED_HEADER];
  const given = rule && headers[rule.header];
  if (!rule || given === undefined) return undefined;
  if (!isInNetworks(socket.remoteAddress ?? "", rule.from)) {
    const message = `The header ${rule.header} is taken from the reverse proxy only. Whoever runs Lightdesk says in LIGHTDESK_AUTH_HEADER_FROM where that is.`;
    return { status: 403, code: "FORBIDDEN", message };
  }
  headers[VOUCHED_HEADER] = String(given);
  return undefined;
}
