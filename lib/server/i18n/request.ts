// next-intl's request settings: language, messages and clock. No URL contains a language.

import "server-only";
import { cookies, headers } from "next/headers";
import { getRequestConfig } from "next-intl/server";
import { chooseLanguage, LANGUAGE_COOKIE } from "@/lib/shared/languages";
import { getEmbedAppearance, getRequestMessages } from "./messages";

export default getRequestConfig(async () => {
  const preferredLanguage = (await getEmbedAppearance()).language ?? (await cookies()).get(LANGUAGE_COOKIE)?.value;
  const locale = chooseLanguage(preferredLanguage, (await headers()).get("accept-language"));
  return { locale, messages: await getRequestMessages(locale), timeZone: "UTC", now: new Date() };
});
