import "server-only";
import { type Role } from "@/lib/contract/roles";

export type Viewer = { memberId: string; name: string; email: string; role: Role };

export async function readViewer(_cookieHeader: string | null | undefined): Promise<Viewer | undefined> {
  throw new Error("comes next");
}

/** For pages: redirects to /set-up while there is no owner, else to /sign-in. */
export async function requireViewer(): Promise<Viewer> {
  throw new Error("comes next");
}
