import { useState } from "react";
import { useRouter } from "@/components/ui/hooks/use-router";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type ConnectionCheck, type ConnectionView } from "@/lib/contract/console";
import { type Result } from "@/lib/shared/result";
import { viewerPath } from "./job-viewers-dialog";
import { connectionPath } from "./save-connection";

type Busy = { id: string; act: "use" | "check" | "remove" | "viewers" };

/** Using, checking and removing a connection: one at a time, with the answer kept beside the connection it is about. */
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
    // What a check found, the frame and the rows below it say alike.
    if (act.act === "check") await refreshCounts();
    // The frame shows connections too; and after a change of role, what may be done here is something else.
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
      // An address that names another one would go on showing that.
      if (answer.ok && act === "use") router.replace("/settings");
    },
    takeView: async ({ id }: ConnectionView, memberId: string) => call({ id, act: "viewers" }, "DELETE", viewerPath(id, memberId)),
    /** True when it is gone. */
    remove: async ({ id }: ConnectionView): Promise<boolean> => (await call({ id, act: "remove" }, "DELETE", connectionPath(id))).ok,
  };
}
