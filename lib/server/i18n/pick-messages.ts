// The sentences a page hands to the browser: only the namespaces it names.
// Guarantees: nothing but what was asked for leaves the server.
// Must never: hand out all of them; the first load would grow with every page of the product.

import "server-only";
import { messages, type Messages, type Namespace } from "@/lib/messages/en";

export function pickMessages(...namespaces: Namespace[]): Partial<Messages> {
  const picked: Partial<Messages> = {};
  for (const namespace of namespaces) Object.assign(picked, { [namespace]: messages[namespace] });
  return picked;
}
