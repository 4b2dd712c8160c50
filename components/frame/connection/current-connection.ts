import { type ConnectionView } from "@/lib/contract/console";

/** What a component needs to know about the connection it works on. */
export type CurrentConnection = {
  id: string;
  name: string;
  embedded: boolean;
  /** A plain local server, which finds files by name and not by content. */
  isLocal?: boolean;
  /** Its service keeps no assets, so their pages and ways in are absent. */
  hasNoAssets?: boolean;
  /** The connection's owner, if the member may only see its jobs. */
  seenOf?: string;
};

export function toCurrent({ id, name, embedded, dialect, hasAssets, seenOf }: ConnectionView): CurrentConnection {
  return {
    id,
    name,
    embedded,
    ...(dialect === "local" && { isLocal: true }),
    ...(!hasAssets && { hasNoAssets: true }),
    ...(seenOf !== undefined && { seenOf }),
  };
}
