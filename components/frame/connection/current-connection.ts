import { type ConnectionView } from "@/lib/contract/console";

/** What a component needs to know about the connection it works on. */
export type CurrentConnection = Pick<ConnectionView, "id" | "name" | "embedded" | "seenOf"> & Partial<Pick<ConnectionView, "lacks">>;

export function toCurrent({ id, name, embedded, lacks, seenOf }: ConnectionView): CurrentConnection {
  return { id, name, embedded, lacks, ...(seenOf !== undefined && { seenOf }) };
}
