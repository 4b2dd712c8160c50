// What next-intl needs to know about a request: the language, its sentences, the clock. No address contains a language.
// Guarantees: server and browser render the same moment, because `now` is sent with the page; only the browser writes what depends on the
// reader's time zone, so the zone here has no meaning.
// Must never: read anything about a member; an embedded page has the language of its host.

import "server-only";
import { cookies, headers } from "next/headers";
import { getRequestConfig } from "next-intl/server";
import { LANGUAGE_COOKIE, readLanguage } from "@/lib/shared/languages";
import { embedLook, messagesHere } from "./messages";

export default getRequestConfig(async () => {
  const chosen = (await embedLook()).language ?? (await cookies()).get(LANGUAGE_COOKIE)?.value;
  const locale = readLanguage(chosen, (await headers()).get("accept-language"));
  return { locale, messages: await messagesHere(locale), timeZone: "UTC", now: new Date() };
});
