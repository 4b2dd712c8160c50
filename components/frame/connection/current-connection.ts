import { type ConnectionView } from "@/lib/contract/console";

/** What a component needs to know of the connection it works on. */
export type CurrentConnection = {
  id: string;
  name: string;
  embedded: boolean;
  /** A plain local server, which knows files by name and not by content. */
  isLocal?: boolean;
  /** Its service keeps no assets: their pages and ways in are absent. */
  hasNoAssets?: boolean;
  /** The member whose own it is, where only its jobs are seen. */
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
