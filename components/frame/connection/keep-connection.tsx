"use client";

import { useSearchParams } from "next/navigation";
import { useEffect, useEffectEvent, useRef } from "react";
import { usePathname, useRouter } from "@/components/ui/link";
import { useConnection } from "./connection-context";

const CHANNEL = "lightdesk-connection";

/**
 * Keeps a tab on its connection: if another tab switched the member to a different one, this tab puts its own into its address, which
 * every link of the frame keeps. Otherwise the next page would silently come from the other service.
 */
export function KeepConnection({ currentId }: { currentId?: string }) {
  const shownId = useConnection()?.id;
  const pathname = usePathname();
  const params = useSearchParams();
  const router = useRouter();
  const channel = useRef<BroadcastChannel>(undefined);
  const postedId = useRef(currentId);

  const keep = useEffectEvent((usedId: unknown) => {
    if (shownId === undefined || usedId === shownId || params.has("connection")) return;
    const kept = new URLSearchParams(params);
    kept.set("connection", shownId);
    router.replace(`${pathname}?${kept}`, { scroll: false });
  });

  useEffect(() => {
    const opened = new BroadcastChannel(CHANNEL);
    opened.onmessage = ({ data }) => keep(data);
    channel.current = opened;
    return () => opened.close();
  }, []);

  useEffect(() => {
    if (postedId.current === currentId) return;
    postedId.current = currentId;
    channel.current?.postMessage(currentId);
  }, [currentId]);

  return null;
}
