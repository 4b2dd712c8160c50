"use client";

import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { type ReactNode, useEffect, useEffectEvent, useRef } from "react";
import { usePathname, useRouter } from "@/components/ui/link";
import { isClosed } from "../destinations";
import { useConnection, useConnectionParam, useConnections, useFeature } from "./connection-context";

const JobsOnly = dynamic(() => import("./closed-page").then((module) => module.JobsOnly));
const NoSuchConnection = dynamic(() => import("./closed-page").then((module) => module.NoSuchConnection));

/** If the URL names a connection that the member doesn't have, the page reports it instead of missing items. */
export function ConnectionGuard({ children }: { children: ReactNode }) {
  const connectionParam = useConnectionParam();
  const pathname = usePathname();
  const isKnown = useConnections().some(({ id }) => id === connectionParam);
  const hasAccess = useFeature("fullAccess");
  if (!hasAccess && isClosed(pathname ?? "")) return <JobsOnly />;
  // Settings apply to all connections, and new ones are added there.
  if (!connectionParam || isKnown || pathname === "/settings" || pathname?.startsWith("/settings/")) return children;
  return <NoSuchConnection />;
}

const CHANNEL = "lightdesk-connection";

/**
 * Keeps a tab on its connection: if another tab switches the member to a different one, this tab adds its own to the URL. Otherwise the next
 * page would silently use the other service.
 */
export function PinConnection({ currentId }: { currentId?: string }) {
  const shownId = useConnection()?.id;
  const pathname = usePathname();
  const params = useSearchParams();
  const router = useRouter();
  const channel = useRef<BroadcastChannel>(undefined);
  const postedId = useRef(currentId);

  const pinConnection = useEffectEvent((usedId: unknown) => {
    if (shownId === undefined || usedId === shownId || params.has("connection")) return;
    const newParams = new URLSearchParams(params);
    newParams.set("connection", shownId);
    router.replace(`${pathname}?${newParams}`, { scroll: false });
  });

  useEffect(() => {
    const broadcastChannel = new BroadcastChannel(CHANNEL);
    broadcastChannel.onmessage = ({ data }) => pinConnection(data);
    channel.current = broadcastChannel;
    return () => broadcastChannel.close();
  }, []);

  useEffect(() => {
    if (postedId.current === currentId) return;
    postedId.current = currentId;
    channel.current?.postMessage(currentId);
  }, [currentId]);

  return null;
}
