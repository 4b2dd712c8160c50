"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type MemberView } from "@/lib/contract/console";
import { type GivenRole } from "./member-rights";

/** Changing and removing members, one at a time; the list is read anew after each, whatever came of it. */
export function useMemberActs() {
  const router = useRouter();
  const [busyWith, setBusyWith] = useState<string>();
  const [failure, setFailure] = useState<ApiFailure>();

  async function call(id: string, init: { method: "PUT" | "DELETE"; json?: unknown }): Promise<boolean> {
    setBusyWith(id);
    setFailure(undefined);
    const result = await callApi(`/api/console/members/${encodeURIComponent(id)}`, init);
    setBusyWith(undefined);
    if (!result.ok) setFailure(result.failure);
    // Somebody else may have changed or removed them meanwhile. Without a session there is nothing to read, and the page stays.
    if (result.ok || result.failure.code !== "UNAUTHORIZED") router.refresh();
    return result.ok;
  }

  return {
    busyWith,
    failure,
    /** True when it is done. */
    giveRole: ({ id }: MemberView, role: GivenRole) => call(id, { method: "PUT", json: { role } }),
    remove: ({ id }: MemberView) => call(id, { method: "DELETE" }),
  };
}
