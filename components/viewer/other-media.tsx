import { useLocale, useTranslations } from "next-intl";
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { buttonStyle } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { FileName } from "@/components/ui/truncated";
import { formatBytes } from "@/lib/shared/text";
import { type ViewerItem } from "./use-viewing";

type OtherMediaProps = { item: ViewerItem; canDownload: boolean; onReady: () => void; onKey: (event: KeyboardEvent) => boolean };

/** Plays video and audio files. For other files, shows the name and links to open or download it. */
export function OtherMedia({ item, canDownload, onReady, onKey }: OtherMediaProps) {
  const t = useTranslations("viewer");
  const frame = useRef<HTMLDivElement>(null);
  const [isBroken, setBroken] = useState(false);
  const isPlayable = item.kind === "video" || item.kind === "audio";
  useEffect(() => {
    frame.current?.focus();
    if (!isPlayable) onReady();
    // A different item remounts this component.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- runs once per item
  }, []);
  const handleBroken = () => {
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
          onBroken={handleBroken}
          className={item.kind === "video" ? "max-h-full max-w-full" : "w-full max-w-xl"}
        />
      ) : null}
      {isPlayable && !isBroken ? null : (
        <NamedFile item={item} canDownload={canDownload}>
          {t(isPlayable ? "noPlay" : "noPicture")}
        </NamedFile>
      )}
    </div>
  );
}

function NamedFile({ item, canDownload, children }: { item: ViewerItem; canDownload: boolean; children: ReactNode }) {
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
  /** Called if the file can't be loaded, or the browser doesn't support its format. */
  onBroken: () => void;
  className?: string;
};

/** A player. Only metadata is loaded before playing. Seeking requests byte ranges. */
export function Media({ kind, label, onReady, onBroken, ...rest }: MediaProps) {
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const checkOnMount = useEffectEvent(() => {
    // A server-rendered player may have failed before hydration.
    if (media.current?.error) onBroken();
  });
  useEffect(() => checkOnMount(), []);
  const Element = kind;
  return <Element ref={media} {...rest} controls preload="metadata" aria-label={label} onLoadedData={onReady} onError={onBroken} />;
}
