// How the embedded page of this request shall look: as its session says, or, before and after a session, as the page's address says; empty
// for any other page. Looked up once per request.

import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { type EmbedLook } from "@/lib/contract/embed/embed-pages";
import { embedLookSchema } from "@/lib/contract/embed/embedding";
import { readEmbedAddress, readEmbedded } from "../embed/sessions";
import { PAGE_HEADER } from "./session-cookie";

export const embedLook = cache(async (): Promise<EmbedLook> => {
  const sent = await headers();
  if (!readEmbedAddress(sent)) return {};
  const embedded = await readEmbedded(sent);
  if (embedded) return embedded.session;
  const query = new URLSearchParams(sent.get(PAGE_HEADER)?.split("?")[1]);
  return embedLookSchema.safeParse(Object.fromEntries(query)).data ?? {};
});
