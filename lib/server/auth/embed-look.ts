// How the embedded page that is being answered shall look: as its session says, and before and after one as the page's address does; nothing
// for any other page. Looked up once for each request.

import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { type EmbedLook } from "@/lib/contract/embed/embed-pages";
import { embedLookSchema } from "@/lib/contract/embed/embedding";
import { PAGE_HEADER } from "./page-header";
import { readEmbedded, readPlace } from "../embed/sessions";

export const embedLook = cache(async (): Promise<EmbedLook> => {
  const sent = await headers();
  if (!readPlace(sent)) return {};
  const embedded = await readEmbedded(sent);
  if (embedded) return embedded.session;
  const query = new URLSearchParams(sent.get(PAGE_HEADER)?.split("?")[1]);
  return embedLookSchema.safeParse(Object.fromEntries(query)).data ?? {};
});
