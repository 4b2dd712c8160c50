import { useLocale, useTranslations } from "next-intl";
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { buttonStyle } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { FileName } from "@/components/ui/truncated";
import { formatBytes } from "@/lib/shared/format";
import { type ViewerItem } from "./use-viewing";

type OtherMediaProps = { item: ViewerItem; canDownload: boolean; onReady: () => void; onKey: (event: KeyboardEvent) => boolean };

/** Videos and sounds play; a file that the browser cannot show is named, with other ways to open it. */
export function OtherMedia({ item, canDownload, onReady, onKey }: OtherMediaProps) {
  const t = useTranslations("viewer");
  const frame = useRef<HTMLDivElement>(null);
  const [isBroken, setBroken] = useState(false);
  const isPlayed = item.kind === "video" || item.kind === "audio";
  useEffect(() => {
    frame.current?.focus();
    if (!isPlayed) onReady();
    // For another item this is mounted again.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each thing that is shown
  }, []);
  const broken = () => {
    setBroken(true);
    onReady();
  };
  return (
    <div
      ref={frame}
      role="group"
      tabIndex={0}
      aria-label={item.name}
      onKeyDown={(event) => {
        if (event.target === event.currentTarget) onKey(event);
      }}
      className="grid min-h-0 flex-1 place-items-center p-6 -outline-offset-2"
    >
      {(item.kind === "video" || item.kind === "audio") && !isBroken ? (
        // Generated media have no captions.
        <Media
          kind={item.kind}
          src={item.src}
          label={item.name}
          poster={item.kind === "video" ? item.poster : undefined}
          onReady={onReady}
          onBroken={broken}
          className={item.kind === "video" ? "max-h-full max-w-full" : "w-full max-w-xl"}
        />
      ) : null}
      {isPlayed && !isBroken ? null : (
        <Named item={item} canDownload={canDownload}>
          {t(isPlayed ? "noPlay" : "noPicture")}
        </Named>
      )}
    </div>
  );
}

function Named({ item, canDownload, children }: { item: ViewerItem; canDownload: boolean; children: ReactNode }) {
  const t = useTranslations("viewer");
  const locale = useLocale();
  return (
    <div className="flex max-w-full flex-col items-center gap-3 text-center text-ink-2">
      <p className="max-w-full font-medium break-all text-ink">
        <FileName name={item.name} />
      </p>
      {item.sizeBytes === undefined ? null : <p>{formatBytes(item.sizeBytes, locale)}</p>}
      <p>{children}</p>
      <span className="flex flex-wrap justify-center gap-2">
        {item.href ? <ButtonLink href={item.href}>{t("openPage")}</ButtonLink> : null}
        {canDownload ? (
          <a href={item.src} download={item.name} aria-label={t("download", { name: item.name })} className={buttonStyle()}>
            {t("downloadShort")}
          </a>
        ) : null}
      </span>
    </div>
  );
}

type MediaProps = {
  kind: "video" | "audio";
  src: string;
  label: string;
  poster?: string;
  onReady?: () => void;
  /** Its bytes can't be loaded, or the browser doesn't support the format. */
  onBroken: () => void;
  className?: string;
};

/** A player. Only the duration is loaded before it plays; seeking requests byte ranges. */
export function Media({ kind, label, onReady, onBroken, ...rest }: MediaProps) {
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const lookAtOnce = useEffectEvent(() => {
    // A player in the first HTML may have failed before React was listening.
    if (media.current?.error) onBroken();
  });
  useEffect(() => lookAtOnce(), []);
  const Element = kind;
  return <Element ref={media} {...rest} controls preload="metadata" aria-label={label} onLoadedData={onReady} onError={onBroken} />;
}
