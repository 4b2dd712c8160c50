"use client";

import { Lock } from "lucide-react";
import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode, useEffect, useEffectEvent, useRef } from "react";
import { usePathname, useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time";
import { type ReadOnlyView } from "@/lib/contract/console";
import { isUnavailablePage } from "../navigation";
import { useConnection, useConnectionParam, useConnections, useFeature } from "./connection-context";

const JobsOnly = dynamic(() => import("./unavailable-page").then((module) => module.JobsOnly));
const ConnectionNotFound = dynamic(() => import("./unavailable-page").then((module) => module.ConnectionNotFound));

/** If the URL names a connection that the member doesn't have, the page reports the connection as missing, not its items. */
export function ConnectionGuard({ children }: { children: ReactNode }) {
  const connectionParam = useConnectionParam();
  const pathname = usePathname();
  const isAvailable = useConnections().some(({ id }) => id === connectionParam);
  const hasAccess = useFeature("fullAccess");
  if (!hasAccess && isUnavailablePage(pathname ?? "")) return <JobsOnly />;
  // Settings apply to all connections, and new ones are added there.
  if (!connectionParam || isAvailable || pathname === "/settings" || pathname?.startsWith("/settings/")) return children;
  return <ConnectionNotFound />;
}

const CHANNEL_NAME = "lightdesk-connection";

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
    const broadcastChannel = new BroadcastChannel(CHANNEL_NAME);
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

export function ReadOnlyNotice({ readOnly: { since, by, note } }: { readOnly: ReadOnlyView }) {
  const t = useTranslations("frame.readOnly");
  return (
    <p role="status" className="flex gap-2 border-b border-line bg-wait-soft px-4 py-2 md:px-5">
      <Lock aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-wait" />
      <span className="min-w-0 break-words">
        <strong className="font-semibold">{t("title")}</strong> {t.rich("text", { name: by, time: () => <RelativeTime ms={since} /> })}
        {note ? ` ${t("note", { note })}` : null}
      </span>
    </p>
  );
}
