// How the embedded page that is being answered shall look; nothing for any other page. Looked up once for each request.

import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { type EmbedLook } from "@/lib/contract/embed-pages";
import { readEmbedded, readPlace } from "./sessions";

export const embedLook = cache(async (): Promise<EmbedLook> => {
  const sent = await headers();
  return readPlace(sent) ? ((await readEmbedded(sent))?.session ?? {}) : {};
});
