import { Box, FileDown } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { readTextExcerpt, type TextExcerpt } from "@/lib/browser/files/byte-source";
import { createViewUrl } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type OutputView } from "@/lib/contract/views/outputs-view";

/** `url`: the output's URL, if it has no file name. */
type OutputMediaProps = { view: OutputView; node: string; connection?: string; url?: string };

/** Renders a non-image output as a media player, text, or a download link. */
export function OutputMedia({ view, node, connection, url }: OutputMediaProps) {
  const t = useTranslations("viewer.output");
  const src = url ?? (view.file && createViewUrl({ ...view.file, connection }));
  const isPlayable = view.kind === "video" || view.kind === "audio";
  const text = view.text ?? (view.json === undefined ? undefined : writeExactJson(view.json, 2));
  return (
    <li className="flex min-w-0 flex-col gap-1.5">
      {/* Only metadata is loaded before playing. Seeking requests byte ranges. */}
      {src && view.kind === "video" ? (
        <video
          src={src}
          controls
          preload="metadata"
          aria-label={view.name}
          className="aspect-video w-full max-w-[640px] rounded-sm bg-sunken"
        />
      ) : null}
      {src && view.kind === "audio" ? (
        <audio src={src} controls preload="metadata" aria-label={view.name} className="w-full max-w-[640px]" />
      ) : null}
      <div className="flex min-w-0 items-start gap-2">
        {src ? (
          <a href={src} download={view.name} className="inline-flex min-w-0 flex-1 items-center gap-1.5 text-accent hover:underline">
            {view.kind === "3d" ? (
              <Box aria-hidden="true" className="size-4 shrink-0" />
            ) : (
              <FileDown aria-hidden="true" className="size-4 shrink-0" />
            )}
            <span className="truncate">{isPlayable ? view.name : t("download", { name: view.name })}</span>
          </a>
        ) : (
          <>
            <pre
              tabIndex={0}
              aria-label={t("text", { node })}
              className="max-h-[320px] min-w-0 flex-1 overflow-auto font-mono text-sm break-words whitespace-pre-wrap"
            >
              {text}
            </pre>
            <CopyButton text={text ?? ""} label={t("copy", { node })} />
          </>
        )}
        <span className="shrink-0 text-sm text-ink-3">{view.temporary ? t("temporary") : node}</span>
      </div>
      {src && view.kind === "text" ? <TextFile src={src} name={view.name} /> : null}
    </li>
  );
}

type ReadState = TextExcerpt | "reading" | "failed";

/** Loads a text file on click, or the beginning of a long one. */
function TextFile({ src, name }: { src: string; name: string }) {
  const t = useTranslations("viewer.output");
  const [readState, setReadState] = useState<ReadState>();
  async function load() {
    setReadState("reading");
    const result = await readTextExcerpt(src);
    setReadState(result.ok ? result.value : "failed");
  }
  if (readState === undefined || readState === "reading" || readState === "failed") {
    return (
      <span className="flex items-center gap-2">
        <Button size="small" busy={readState === "reading"} onClick={() => void load()}>
          {t("read", { name })}
        </Button>
        {readState === "failed" ? <span className="text-bad">{t("unreadable")}</span> : null}
      </span>
    );
  }
  return (
    <>
      <pre
        tabIndex={0}
        aria-label={name}
        className="max-h-[320px] overflow-auto rounded-md border border-line bg-sunken p-2.5 font-mono text-sm break-words whitespace-pre-wrap"
      >
        {readState.text}
      </pre>
      {readState.isComplete ? null : <span className="text-sm text-ink-3">{t("beginning")}</span>}
    </>
  );
}
