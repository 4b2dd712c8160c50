// Messages in the user's language, with the product name filled in.

import "server-only";
import { type Metadata } from "next";
import { cookies, headers } from "next/headers";
import { getLocale, getRequestConfig, getTranslations } from "next-intl/server";
import { cache } from "react";
import { type EmbedAppearance } from "@/lib/contract/embed/embed-pages";
import { embedAppearanceSchema } from "@/lib/contract/embed/embedding";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import * as english from "@/lib/messages/en";
import * as chinese from "@/lib/messages/zh-CN";
import { chooseLanguage, type Language, LANGUAGE_COOKIE } from "@/lib/shared/languages";
import { getComposition } from "../composition";
import { PAGE_HEADER } from "../cookies";
import { isEmbeddedRequest, readEmbeddedSession } from "../embed/sessions";

type Messages = typeof english;

export const messagesByLanguage: Readonly<Record<Language, Messages>> = { en: english, "zh-CN": chinese };

const productMessages = new Map<string, Messages>();

function getProductMessages(language: Language, productName: string): Messages {
  const cacheKey = `${language} ${productName}`;
  const cachedMessages = productMessages.get(cacheKey);
  if (cachedMessages) return cachedMessages;
  const messages: Messages = JSON.parse(writeExactJson(messagesByLanguage[language]).replaceAll("Lightdesk", productName));
  productMessages.set(cacheKey, messages);
  return messages;
}

declare module "next-intl" {
  // Declaration merging works with interfaces only.
  interface AppConfig {
    Locale: Language;
    Messages: Messages;
  }
}

/** The product name for this request. Embedded pages and shares may use a different one. */
export async function getProductName(): Promise<string> {
  const requestHeaders = await headers();
  const isForVisitors = isEmbeddedRequest(requestHeaders) || requestHeaders.get(PAGE_HEADER)?.startsWith("/share/");
  return (isForVisitors ? getComposition().env.productName : undefined) ?? "Lightdesk";
}

export async function getRequestMessages(language: Language): Promise<Messages> {
  const productName = await getProductName();
  return productName === "Lightdesk" ? messagesByLanguage[language] : getProductMessages(language, productName);
}

export async function pickMessages(...namespaces: (keyof Messages)[]): Promise<Partial<Messages>> {
  const messages = await getRequestMessages(await getLocale());
  return Object.fromEntries(namespaces.map((namespace) => [namespace, messages[namespace]]));
}

/** Returns a `generateMetadata` function for a page's title. */
export function createPageTitle(key: Parameters<Awaited<ReturnType<typeof getTranslations<never>>>>[0]) {
  return async (): Promise<Metadata> => ({ title: (await getTranslations())(key) });
}

/** The theme and language that the host page has chosen. */
export const getEmbedAppearance = cache(async (): Promise<EmbedAppearance> => {
  const requestHeaders = await headers();
  if (!isEmbeddedRequest(requestHeaders)) return {};
  const viewer = await readEmbeddedSession(getComposition(), requestHeaders);
  if (viewer) return viewer.session;
  const query = new URLSearchParams(requestHeaders.get(PAGE_HEADER)?.split("?")[1]);
  return embedAppearanceSchema.safeParse(Object.fromEntries(query)).data ?? {};
});

/** next-intl's configuration of a request. URLs contain no language. */
export default getRequestConfig(async () => {
  const preferredLanguage = (await getEmbedAppearance()).language ?? (await cookies()).get(LANGUAGE_COOKIE)?.value;
  const locale = chooseLanguage(preferredLanguage, (await headers()).get("accept-language"));
  return { locale, messages: await getRequestMessages(locale), timeZone: "UTC", now: new Date() };
});
