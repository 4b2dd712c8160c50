// What next-intl needs to know of a request: the language, its sentences, the clock. English now; no language in the address.
// Guarantees: server and browser render the same moment, since `now` travels with the page.
// Must never: read anything of a member.

import "server-only";
import { getRequestConfig } from "next-intl/server";
import { messages } from "@/lib/messages/en";

export default getRequestConfig(async () => ({ locale: "en", messages, timeZone: "UTC", now: new Date() }));
