import { useState } from "react";
import useSWR, { type SWRConfiguration } from "swr";
import { type Result, unwrapResult } from "@/lib/shared/result";
import { type ApiFailure } from "./api-failure";

type ReadKey = readonly unknown[] | string | false | undefined;

/** Reads once per key. A failure remains until `mutate` is called. */
export function useRead<T>(key: ReadKey, read: () => Promise<Result<T, ApiFailure>>, options: SWRConfiguration<T, ApiFailure> = {}) {
  return useSWR<T, ApiFailure>(key || null, async () => unwrapResult(await read()), {
    revalidateOnFocus: false,
    shouldRetryOnError: false,
    ...options,
  });
}

/** Sends one request at a time, and stores the last failure. */
export function useRequests<Action extends string>() {
  const [busyWith, setBusyWith] = useState<Action>();
  const [failure, setFailure] = useState<ApiFailure>();
  async function send<T>(action: NoInfer<Action>, request: Promise<Result<T, ApiFailure>>): Promise<Result<T, ApiFailure>> {
    setBusyWith(action);
    setFailure(undefined);
    const result = await request;
    setBusyWith(undefined);
    if (!result.ok) setFailure(result.failure);
    return result;
  }
  return { busyWith, failure, send };
}
