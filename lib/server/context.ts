// The context that route handlers receive.

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
  annotateAudit(details: AuditDetails): void;
};
export type AuthedContext = RouteContext & { viewer: Viewer };
export type Actor = Pick<Viewer, "memberId" | "name" | "email"> & Partial<Pick<Viewer, "credential">>;
/**
 * `isAlwaysWritten`: writes an audit entry even if nothing changes or the member is unknown. `errorCode`: the error that the redirect's target
 * shows.
 */
export type AuditDetails = {
  action?: string;
  target?: string;
  connectionId?: string;
  outcome?: string;
  by?: Actor;
  isAlwaysWritten?: boolean;
  errorCode?: ErrorCode;
};
