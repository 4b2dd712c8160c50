"use client";

import { useCallback } from "react";
import { useOpened } from "@/components/frame/use-opened";
import { withQuery } from "@/lib/browser/urls";

/** The job that `?job=` names, open beside the list. */
export function useOpenJob(linked: string | undefined) {
  const pageOf = useCallback((id: string) => withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked }), [linked]);
  return useOpened("job", pageOf);
}
