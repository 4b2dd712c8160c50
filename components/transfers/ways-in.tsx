"use client";

import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useState } from "react";
import { useConnection, useFeature } from "@/components/frame/connection/connection-context";
import { useRunsAppsOnly, useWhyNot } from "@/components/frame/member-context";
import { onWayIn, type WayIn, waysOf } from "@/components/frame/ways-in";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";
import { usePathname } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type Dropped, filesOfInput } from "@/lib/browser/files/dropped-files";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { useOwnAlarms } from "./uploads/use-own-alarms";
import { useWindowFiles } from "./uploads/use-window-files";
import { type WayRequest } from "./uploads/way-request";

/** The whole upload code loads with the first file. */
const UploadsRoom = dynamic(() => import("./uploads-room").then(({ UploadsRoom }) => UploadsRoom), { ssr: false });

/** Alarms of an earlier visit open the component by themselves. */
const ofEarlier: WayRequest = { id: 0, way: "tray" };

type Wish = WayRequest extends infer R ? (R extends WayRequest ? Omit<R, "id"> : never) : never;

/** Rendered once beside the pages: takes dropped, pasted or picked files on any page. */
export function WaysIn({ canAdd: mayAdd }: { canAdd: boolean }) {
  const t = useTranslations("frame.ways");
  const connection = useConnection();
  const hasAccess = useFeature("fullAccess");
  const canAdd = mayAdd && hasAccess;
  const [request, setRequest] = useState<WayRequest>();
  // On the Run page a dropped file is a workflow or a picture for one.
  const isElsewhere = usePathname() !== "/run";

  const cannot = canAdd ? (hasFeature(connection, "assets") ? undefined : "noAssets") : "refused";
  const whyNot = useWhyNot();
  const runsAppsOnly = useRunsAppsOnly();
  const cannotFetch = cannot ?? (waysOf(connection).includes("url") ? undefined : "noAddresses");
  const named = { connection: connection?.name ?? "" };
  const say = (reason: NonNullable<typeof cannotFetch>) => (reason === "refused" ? whyNot(t(reason)) : t(reason, named));
  const wish = (wanted: Wish) => setRequest((last) => ({ ...wanted, id: (last?.id ?? 0) + 1 }));
  function takeFiles(dropped: Promise<Dropped>) {
    if (cannot) return showToast({ tone: "bad", text: say(cannot) });
    wish({ way: "files", dropped });
  }
  const onFiles = (picked: File[]) => picked.length > 0 && takeFiles(Promise.resolve(filesOfInput(picked)));
  const files = useFilePick({ isMany: true, testId: "asset-files", onFiles });
  const folder = useFilePick({ isFolder: true, testId: "asset-folder", onFiles });
  const open = useEffectEvent((way: WayIn) => {
    if (cannot && way !== "tray") showToast({ tone: "bad", text: say(cannot) });
    else if (way === "files") files.open();
    else if (way === "folder") folder.open();
    else wish({ way });
  });
  useEffect(() => onWayIn(open), []);
  const hasAlarms = useOwnAlarms().length > 0;
  const shown = request ?? (hasAlarms ? ofEarlier : undefined);
  const resume = useEffectEvent(() => wish({ way: "resume" }));
  const connectionId = connection?.id;
  useEffect(() => {
    if (connectionId === undefined || !hasAccess || runsAppsOnly) return;
    const asking = new AbortController();
    void callApi<{ underWay: number }>(withQuery("/api/console/tasks", { connection: connectionId, count: true }), {
      signal: asking.signal,
    }).then((answer) => {
      if (answer.ok && answer.value.underWay > 0) resume();
    });
    return () => asking.abort();
  }, [connectionId, hasAccess, runsAppsOnly]);
  const over = useWindowFiles({
    isOn: isElsewhere,
    onFiles: takeFiles,
    onAddress: (address) => (cannotFetch ? showToast({ tone: "bad", text: say(cannotFetch) }) : wish({ way: "url", address })),
  });

  return (
    <>
      {files.input}
      {folder.input}
      {over ? (
        <div className="pointer-events-none fixed inset-2 z-50 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-bg/85">
          <p className="rounded-lg bg-surface px-5 py-3 text-lg font-semibold shadow-lg">
            {over === "files" ? (cannot ? say(cannot) : t("drop", named)) : cannotFetch ? say(cannotFetch) : t("dropAddress", named)}
          </p>
        </div>
      ) : null}
      {shown ? <UploadsRoom request={shown} connection={connection} canAdd={canAdd} /> : null}
    </>
  );
}
