import { keptState } from "@/components/viewer/use-shown";

/** The place in an endless list, kept in the address: Back, a reload and a link come to it again. Nothing is asked of the server. */
export function noteOffset(index: number): void {
  const address = new URL(window.location.href);
  const before = address.searchParams.get("offset");
  if (index === 0) address.searchParams.delete("offset");
  else address.searchParams.set("offset", String(index));
  if (address.searchParams.get("offset") !== before) window.history.replaceState(keptState(), "", address.pathname + address.search);
}
