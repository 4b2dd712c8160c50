// What next-intl needs to know of a request: the language, its sentences, the clock. No address has a language in it.
// Guarantees: server and browser render the same moment, since `now` travels with the page; what depends on the reader's
// time zone is written by the browser alone, so the zone here is of no meaning.
// Must never: read anything of a member; an embedded page is in the language of its host.

import "server-only";
import { cookies, headers } from "next/headers";
import { getRequestConfig } from "next-intl/server";
import { LANGUAGE_COOKIE, readLanguage } from "@/lib/shared/languages";
import { embedLook } from "../auth/embed-look";
import { messagesOf } from "./messages-of";

export default getRequestConfig(async () => {
  const chosen = (await embedLook()).language ?? (await cookies()).get(LANGUAGE_COOKIE)?.value;
  const locale = readLanguage(chosen, (await headers()).get("accept-language"));
  return { locale, messages: messagesOf[locale], timeZone: "UTC", now: new Date() };
});
