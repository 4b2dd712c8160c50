"use client";

import { useTranslations } from "next-intl";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { buttonStyle } from "@/components/ui/button";
import { type ViewerItem } from "./viewer-item";

type OtherMediaProps = { item: ViewerItem; canDownload: boolean; onReady: () => void; onKey: (event: KeyboardEvent) => boolean };

/** Films and sounds play; what a browser cannot show is offered as a download. */
export function OtherMedia({ item, canDownload, onReady, onKey }: OtherMediaProps) {
  const t = useTranslations("viewer");
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    frame.current?.focus();
    if (item.kind !== "video" && item.kind !== "audio") onReady();
    // Another thing mounts this anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each thing that is shown
  }, []);
  return (
    <div
      ref={frame}
      role="group"
      tabIndex={0}
      aria-label={item.name}
      onKeyDown={(event) => {
        if (event.target === event.currentTarget) onKey(event);
      }}
      className="grid min-h-0 flex-1 place-items-center p-6"
    >
      {item.kind === "video" ? (
        // What a model makes has no captions.
        <video src={item.src} poster={item.poster} controls onLoadedData={onReady} onError={onReady} className="max-h-full max-w-full" />
      ) : null}
      {item.kind === "audio" ? (
        <audio src={item.src} controls onLoadedData={onReady} onError={onReady} className="w-full max-w-xl" />
      ) : null}
      {item.kind === "video" || item.kind === "audio" ? null : (
        <p className="flex flex-col items-center gap-3 text-ink-2">
          {t("noPicture")}
          {canDownload ? (
            <a href={item.src} download={item.name} className={buttonStyle()}>
              {t("download", { name: item.name })}
            </a>
          ) : null}
        </p>
      )}
    </div>
  );
}
