"use client";

import dynamic from "next/dynamic";
import { type ReactNode } from "react";
import { usePathname } from "@/components/ui/link";
import { isClosed } from "../destinations";
import { useConnections, useFeature, useLinkedConnection } from "./connection-context";

const JobsOnly = dynamic(() => import("./closed-page").then((module) => module.JobsOnly));
const NoSuchConnection = dynamic(() => import("./closed-page").then((module) => module.NoSuchConnection));

/** If the address names a connection that the member does not have, the page says so; a list would only report its own items as missing. */
export function KnownConnection({ children }: { children: ReactNode }) {
  const wanted = useLinkedConnection();
  const pathname = usePathname();
  const isKnown = useConnections().some(({ id }) => id === wanted);
  const hasAccess = useFeature("fullAccess");
  if (!hasAccess && isClosed(pathname ?? "")) return <JobsOnly />;
  // Settings are about all connections, and are where one is added.
  if (!wanted || isKnown || pathname === "/settings" || pathname?.startsWith("/settings/")) return children;
  return <NoSuchConnection />;
}
