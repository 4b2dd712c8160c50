// The host page below whose address the page being answered is, or that an address names.

import "server-only";
import { headers } from "next/headers";
import { composition } from "../composition";
import { type EmbedHost } from "../store/embed-hosts";
import { readPlace } from "./sessions";

export async function findHostHere(): Promise<EmbedHost | undefined> {
  const place = readPlace(await headers());
  return place && findHost(place.host);
}

export async function findHost(id: string): Promise<EmbedHost | undefined> {
  const { store, ready } = composition();
  await ready;
  return store.embedHosts.get(id);
}
