// What the route wrapper passes to a handler.

import "server-only";
import { type ErrorCode } from "@/lib/contract/failure";
import { type Viewer } from "./auth/viewer";
import { type Composition } from "./composition-type";

export type RouteContext = {
  request: Request;
  requestId: string;
  composition: Composition;
  params: Record<string, string | string[] | undefined>;
  /** Adds fields to the audit entry, besides member, time and status. */
  annotateAudit(facts: AuditNote): void;
};
export type AuthedContext = RouteContext & { viewer: Viewer };
export type Actor = Pick<Viewer, "memberId" | "name" | "email"> & Partial<Pick<Viewer, "credential">>;
/**
 * `isWritten`: writes an audit entry even if nothing changes or the member is unknown. `refused`: the error that the redirect's target
 * shows.
 */
export type AuditNote = {
  action?: string;
  target?: string;
  connectionId?: string;
  outcome?: string;
  by?: Actor;
  isWritten?: boolean;
  refused?: ErrorCode;
};
