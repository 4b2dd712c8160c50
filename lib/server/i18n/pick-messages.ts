// The sentences that a page sends to the browser: only the namespaces it names, in the reader's language.
// Guarantees: nothing else leaves the server.
// Must never: send all of them, or two languages; the first load would grow with every page and language of the product.

import "server-only";
import { headers } from "next/headers";
import { getLocale } from "next-intl/server";
import { type Language } from "@/lib/shared/languages";
import { PAGE_HEADER } from "../auth/session-cookie";
import { composition } from "../composition";
import { readEmbedAddress } from "../embed/sessions";
import { type Messages, messagesNaming, messagesOf } from "./messages-of";

/** The product name for this request's page: embedded pages and shares may use another one. */
export async function productHere(): Promise<string> {
  const sent = await headers();
  const isForVisitors = readEmbedAddress(sent) !== undefined || sent.get(PAGE_HEADER)?.startsWith("/share/");
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
