// The sentences that a page sends to the browser: only the namespaces it names, in the reader's language.
// Guarantees: nothing else leaves the server.
// Must never: send all of them, or two languages; the first load would grow with every page and language of the product.

import "server-only";
import { getLocale } from "next-intl/server";
import { type Messages, messagesOf } from "./messages-of";

export async function pickMessages(...namespaces: (keyof Messages)[]): Promise<Partial<Messages>> {
  const messages = messagesOf[await getLocale()];
  return Object.fromEntries(namespaces.map((namespace) => [namespace, messages[namespace]]));
}
