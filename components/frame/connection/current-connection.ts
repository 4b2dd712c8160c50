import { type ConnectionView } from "@/lib/contract/console";

/** The fields of the current connection that components use. */
export type CurrentConnection = Pick<ConnectionView, "id" | "name" | "embedded" | "seenOf"> & Partial<Pick<ConnectionView, "lacks">>;

export function toCurrentConnection({ id, name, embedded, lacks, seenOf }: ConnectionView): CurrentConnection {
  return { id, name, embedded, lacks, ...(seenOf !== undefined && { seenOf }) };
}
