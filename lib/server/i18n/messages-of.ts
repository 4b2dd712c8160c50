// Every sentence in every language. A language that lacks one does not compile.
// Must never: reach a browser whole; pick-messages.ts hands out parts of one language.

import "server-only";
import { messages as english, type Messages } from "@/lib/messages/en";
import { messages as chinese } from "@/lib/messages/zh-CN";
import { type Language } from "@/lib/shared/languages";

export const messagesOf: Readonly<Record<Language, Messages>> = { en: english, "zh-CN": chinese };
