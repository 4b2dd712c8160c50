// Messages in the reader's language, with the product name filled in.

import "server-only";
import { type Metadata } from "next";
import { headers } from "next/headers";
import { getLocale, getTranslations } from "next-intl/server";
import { cache } from "react";
import { type EmbedAppearance } from "@/lib/contract/embed/embed-pages";
import { embedLookSchema } from "@/lib/contract/embed/embedding";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import * as english from "@/lib/messages/en";
import * as chinese from "@/lib/messages/zh-CN";
import { type Language } from "@/lib/shared/languages";
import { composition } from "../composition";
import { PAGE_HEADER } from "../cookies";
import { isEmbeddedRequest, readEmbeddedSession } from "../embed/sessions";

type Messages = typeof english;

export const messagesOf: Readonly<Record<Language, Messages>> = { en: english, "zh-CN": chinese };

const renamed = new Map<string, Messages>();

function messagesNaming(language: Language, product: string): Messages {
  const name = `${language} ${product}`;
  const cachedMessages = renamed.get(name);
  if (cachedMessages) return cachedMessages;
  const messages: Messages = JSON.parse(writeExactJson(messagesOf[language]).replaceAll("Lightdesk", product));
  renamed.set(name, messages);
  return messages;
}

declare module "next-intl" {
  // Declaration merging works with interfaces only.
  interface AppConfig {
    Locale: Language;
    Messages: Messages;
  }
}

/** The product name for this request's page: embedded pages and shares may use another one. */
export async function productHere(): Promise<string> {
  const requestHeaders = await headers();
  const isForVisitors = isEmbeddedRequest(requestHeaders) || requestHeaders.get(PAGE_HEADER)?.startsWith("/share/");
  return (isForVisitors ? composition().env.productName : undefined) ?? "Lightdesk";
}

export async function messagesHere(language: Language): Promise<Messages> {
  const product = await productHere();
  return product === "Lightdesk" ? messagesOf[language] : messagesNaming(language, product);
}

export async function pickMessages(...namespaces: (keyof Messages)[]): Promise<Partial<Messages>> {
  const messages = await messagesHere(await getLocale());
  return Object.fromEntries(namespaces.map((namespace) => [namespace, messages[namespace]]));
}

/** What a page exports as generateMetadata. */
export function pageTitle(key: Parameters<Awaited<ReturnType<typeof getTranslations<never>>>>[0]) {
  return async (): Promise<Metadata> => ({ title: (await getTranslations())(key) });
}

/** Theme and language that the host page has chosen. */
export const embedAppearance = cache(async (): Promise<EmbedAppearance> => {
  const requestHeaders = await headers();
  if (!isEmbeddedRequest(requestHeaders)) return {};
  const embedded = await readEmbeddedSession(composition(), requestHeaders);
  if (embedded) return embedded.session;
  const query = new URLSearchParams(requestHeaders.get(PAGE_HEADER)?.split("?")[1]);
  return embedLookSchema.safeParse(Object.fromEntries(query)).data ?? {};
});
