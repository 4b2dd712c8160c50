// What the route wrapper hands to a handler.

import "server-only";
import { type ErrorCode } from "@/lib/contract/failure";
import { type Viewer } from "./auth/viewer";
import { type Composition } from "./composition-type";

export type Opened = {
  request: Request;
  requestId: string;
  composition: Composition;
  params: Record<string, string | string[] | undefined>;
  /** What the audit log shall say about a change, besides who, when and the status. */
  note(facts: Noted): void;
};
export type Asked = Opened & { viewer: Viewer };
export type Actor = Pick<Viewer, "memberId" | "name" | "email"> & Partial<Pick<Viewer, "credential">>;
/**
 * `isWritten`: written to the audit log although nothing changes, or although no member is known to have done it. `refused`: the refusal is
 * shown by the page that the answer redirects to.
 */
export type Noted = {
  action?: string;
  target?: string;
  connectionId?: string;
  outcome?: string;
  by?: Actor;
  isWritten?: boolean;
  refused?: ErrorCode;
};
