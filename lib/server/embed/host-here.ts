// Reads a page's embedding host from the request headers. Only for Next pages: commands have no request.

import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { type EmbedLook } from "@/lib/contract/embed/embed-pages";
import { embedLookSchema } from "@/lib/contract/embed/embedding";
import { composition } from "../composition";
import { PAGE_HEADER } from "../cookies";
import { type EmbedHost } from "../store/embed-hosts";
import { readEmbedAddress, readEmbedded } from "./sessions";

export async function findHostHere(): Promise<EmbedHost | undefined> {
  const embed = readEmbedAddress(await headers());
  return embed && findHost(embed.host);
}

export async function findHost(id: string): Promise<EmbedHost | undefined> {
  const { store, ready } = composition();
  await ready;
  return store.embedHosts.get(id);
}

export const embedLook = cache(async (): Promise<EmbedLook> => {
  const sent = await headers();
  if (!readEmbedAddress(sent)) return {};
  const embedded = await readEmbedded(sent);
  if (embedded) return embedded.session;
  const query = new URLSearchParams(sent.get(PAGE_HEADER)?.split("?")[1]);
  return embedLookSchema.safeParse(Object.fromEntries(query)).data ?? {};
});
