import { type Dropped } from "@/lib/browser/files/dropped-files";

/** The newest request; its number distinguishes two requests for the same way. */
export type WayRequest = { id: number } & (
  | { way: "files"; dropped: Promise<Dropped> }
  | { way: "url"; address?: string }
  | { way: "hash" }
  | { way: "tray" }
  /** Something of an earlier visit is still in progress. */
  | { way: "resume" }
);
