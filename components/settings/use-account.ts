"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { faultyField } from "@/components/frame/faulty-field";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";

const fields = ["name", "email", "password", "currentPassword"] as const;
export type AccountField = (typeof fields)[number];

/** One form of the account: what is under way, and which of its fields was refused. */
export function useAccount() {
  const router = useRouter();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const isTaken = failure?.code === "CONFLICT";
  const faulty: AccountField | undefined = isTaken ? "email" : failure && faultyField(failure, fields);
  return {
    isBusy,
    isTaken,
    faulty,
    /** A failure that no field is to blame for. */
    failure: faulty === undefined ? failure : undefined,
    /** True when it is done. `after` belongs to the act: the form stays busy until it has ended. */
    async change(json: Partial<Record<AccountField, string>>, after: () => Promise<void> | void): Promise<void> {
      setBusy(true);
      setFailure(undefined);
      const result = await callApi("/api/console/account", { method: "PUT", json });
      if (result.ok) await after();
      else setFailure(result.failure);
      setBusy(false);
      if (result.ok) router.refresh();
    },
  };
}
