// A value that a browser keeps for us but cannot read: a cookie with its own encryption key, for the console's path only.
// Guarantees: a value that was changed, is too old, or was sealed under another name or secret reads as undefined.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { type z } from "zod";
import { composition } from "../composition";
import { readCookie } from "../read-cookie";
import { type Sent } from "./session";
import { cookieAttributes, cookieName } from "./session-cookie";

export function sealedCookie<T>(name: string, schema: z.ZodType<T>, seconds: number) {
  const write = (value: string, lasts: number) => {
    const { env } = composition();
    return `${cookieName(name, env)}=${value}; ${cookieAttributes(env, lasts)}`;
  };
  return {
    /** The value for Set-Cookie. */
    async write(value: T): Promise<string> {
      const { authSecret } = composition();
      return write(await encode({ token: { value }, secret: authSecret, salt: name, maxAge: seconds }), seconds);
    },
    forget: () => write("", 0),
    async read(sent: Sent): Promise<T | undefined> {
      const { authSecret, env } = composition();
      const token = readCookie(sent.get("cookie"), cookieName(name, env));
      if (!token) return undefined;
      try {
        return schema.safeParse((await decode({ token, secret: authSecret, salt: name }))?.value).data;
      } catch {
        return undefined; // Belongs to a visitor; not a fault.
      }
    },
  };
}
