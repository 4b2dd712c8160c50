import { Box, FileDown } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/truncated";
import { apiPath } from "@/lib/browser/urls";
import { type SharedItem as Item } from "@/lib/contract/share";
import { formatBytes } from "@/lib/shared/text";

/** One file of a share: preview, name and download. Works without JavaScript. */
export function SharedItem({ token, item, isOnlyItem }: { token: string; item: Item; isOnlyItem: boolean }) {
  const t = useTranslations("sharing.page");
  const locale = useLocale();
  const { number, name, size, hash, text } = item;
  const src = apiPath(`/api/share/${token}/${number}`);
  return (
    <figure className="flex min-w-0 flex-col overflow-hidden rounded-xl border border-line bg-surface">
      <ItemPreview item={item} src={src} isOnlyItem={isOnlyItem} />
      <figcaption className="mt-auto flex flex-col gap-2 p-3">
        {text === undefined ? (
          <div className="flex items-center gap-3">
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium" title={name}>
                <FileName name={name} />
              </p>
              {size === undefined ? null : <p className="text-sm text-ink-3">{formatBytes(size, locale)}</p>}
            </div>
            <a
              href={`${src}?download=1`}
              download={name}
              aria-label={t("downloadName", { name })}
              className={cn(buttonStyle(), "h-11 px-3.5")}
            >
              {t("download")}
            </a>
          </div>
        ) : null}
        {hash ? (
          <details className="text-sm text-ink-3">
            <summary className="cursor-pointer py-1">{t("hash")}</summary>
            <code className="block font-mono break-all select-all">{hash}</code>
          </details>
        ) : null}
      </figcaption>
    </figure>
  );
}

function ItemPreview({ item, src, isOnlyItem }: { item: Item; src: string; isOnlyItem: boolean }) {
  const t = useTranslations("sharing.page");
  const { name, kind, width, height, text } = item;
  if (text !== undefined) {
    return (
      <pre
        tabIndex={0}
        aria-label={t("text")}
        className="max-h-[420px] overflow-auto p-3 font-mono text-sm break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    );
  }
  if (kind === "image") {
    const hasSize = width !== undefined && height !== undefined;
    return (
      <a href={src} aria-label={t("open", { name })} className="block bg-sunken">
        {/* eslint-disable-next-line @next/next/no-img-element -- next/image would serve the file without checking the share */}
        <img
          src={`${src}/1024`}
          srcSet={`${src}/512 512w, ${src}/1024 1024w`}
          sizes={isOnlyItem ? "(min-width: 800px) 768px, 100vw" : "(min-width: 1024px) 352px, (min-width: 640px) 50vw, 100vw"}
          alt={name}
          loading="lazy"
          {...(hasSize && { width, height })}
          className={cn("w-full object-contain", hasSize ? "h-auto" : "aspect-[4/3]", isOnlyItem ? "max-h-[80dvh]" : "max-h-[640px]")}
        />
      </a>
    );
  }
  // Some phones show no frame before a video plays, unless its URL contains a start time.
  if (kind === "video")
    return (
      <video
        src={`${src}#t=0.1`}
        controls
        playsInline
        preload="metadata"
        aria-label={name}
        className={cn("max-h-[80dvh] w-full bg-sunken", isOnlyItem ? "" : "aspect-video")}
      />
    );
  if (kind === "audio") return <audio src={src} controls preload="metadata" aria-label={name} className="w-full p-3" />;
  const Icon = kind === "3d" ? Box : FileDown;
  return (
    <div className="flex min-h-32 items-center justify-center bg-sunken text-ink-3">
      <Icon aria-hidden="true" className="size-8" />
    </div>
  );
}
