// Every sentence in every language. A language that lacks one does not compile, nor does a key without a sentence.
// Must never: be sent to a browser whole; pick-messages.ts hands out parts of one language.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import * as english from "@/lib/messages/en";
import * as chinese from "@/lib/messages/zh-CN";
import { type Language } from "@/lib/shared/languages";

export type Messages = typeof english;

export const messagesOf: Readonly<Record<Language, Messages>> = { en: english, "zh-CN": chinese };

const renamed = new Map<string, Messages>();

/** A language's messages with another product name. */
export function messagesNaming(language: Language, product: string): Messages {
  const name = `${language} ${product}`;
  const cachedMessages = renamed.get(name);
  if (cachedMessages) return cachedMessages;
  const made: Messages = JSON.parse(writeExactJson(messagesOf[language]).replaceAll("Lightdesk", product));
  renamed.set(name, made);
  return made;
}

declare module "next-intl" {
  // Declaration merging works with interfaces only.
  interface AppConfig {
    Locale: Language;
    Messages: Messages;
  }
}
