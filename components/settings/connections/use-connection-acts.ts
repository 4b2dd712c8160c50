import { useState } from "react";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { useRouter } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type ConnectionCheck, type ConnectionView } from "@/lib/contract/console";
import { type Result } from "@/lib/shared/result";
import { viewerPath } from "./job-viewers-dialog";
import { connectionPath } from "./save-connection";

type Busy = { id: string; act: "use" | "check" | "remove" | "viewers" };

/** Uses, checks and removes connections: one act at a time, with the answer shown at its connection. */
export function useConnectionActs() {
  const router = useRouter();
  const refreshCounts = useRefreshCounts();
  const [busy, setBusy] = useState<Busy>();
  const [failure, setFailure] = useState<ApiFailure>();
  const [checks, setChecks] = useState<Readonly<Partial<Record<string, ConnectionCheck>>>>({});
  const note = (id: string, check: ConnectionCheck | undefined) => setChecks((known) => ({ ...known, [id]: check }));

  async function call<T>(act: Busy, method: "POST" | "DELETE", path: `/${string}`): Promise<Result<T, ApiFailure>> {
    setBusy(act);
    setFailure(undefined);
    const result = await callApi<T>(path, { method });
    setBusy(undefined);
    if (!result.ok) setFailure(result.failure);
    // Refreshes the counts, so that the frame shows the same state as the check.
    if (act.act === "check") await refreshCounts();
    // The frame shows connections too; and after a change of role, other acts are allowed.
    if (result.ok || result.failure.code === "ROLE_TOO_LOW") router.refresh();
    return result;
  }

  return {
    busy,
    failure,
    checks,
    note,
    run: async ({ id }: ConnectionView, act: "use" | "check") => {
      const answer = await call<{ check?: ConnectionCheck } | undefined>({ id, act }, "POST", connectionPath(id, act));
      if (answer.ok && answer.value?.check) note(id, answer.value.check);
      // Otherwise an address that names another connection would keep showing that one.
      if (answer.ok && act === "use") router.replace("/settings");
    },
    takeView: async ({ id }: ConnectionView, memberId: string) => call({ id, act: "viewers" }, "DELETE", viewerPath(id, memberId)),
    /** True if it was removed. */
    remove: async ({ id }: ConnectionView): Promise<boolean> => (await call({ id, act: "remove" }, "DELETE", connectionPath(id))).ok,
  };
}
