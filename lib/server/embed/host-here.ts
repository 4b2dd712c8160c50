// Finds the host page of the current page's address, or of a given id.

import "server-only";
import { headers } from "next/headers";
import { composition } from "../composition";
import { type EmbedHost } from "../store/embed-hosts";
import { readEmbedAddress } from "./sessions";

export async function findHostHere(): Promise<EmbedHost | undefined> {
  const embed = readEmbedAddress(await headers());
  return embed && findHost(embed.host);
}

export async function findHost(id: string): Promise<EmbedHost | undefined> {
  const { store, ready } = composition();
  await ready;
  return store.embedHosts.get(id);
}
