import { type Dropped } from "@/lib/browser/files/dropped-files";

/** What was asked for last; a number for each, so that the same way asked for twice is two wishes. */
export type WayRequest = { id: number } & (
  | { way: "files"; dropped: Promise<Dropped> }
  | { way: "url"; address?: string }
  | { way: "hash" }
  | { way: "tray" }
  /** Something of an earlier visit is still under way. */
  | { way: "resume" }
);
