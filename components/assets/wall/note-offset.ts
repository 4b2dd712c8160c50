import { keptState } from "@/components/viewer/use-shown";

/** Keeps the position in an endless list in the address, for Back, a reload and links. No request is made. */
export function noteOffset(index: number): void {
  const address = new URL(window.location.href);
  const before = address.searchParams.get("offset");
  if (index === 0) address.searchParams.delete("offset");
  else address.searchParams.set("offset", String(index));
  if (address.searchParams.get("offset") !== before) window.history.replaceState(keptState(), "", address.pathname + address.search);
}
