import { Download } from "lucide-react";
import { useTranslations } from "next-intl";
import { useMemo } from "react";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { saveFile } from "@/lib/browser/files/save-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";

/** Longer text is truncated here. Copy and download contain all of it. */
const MAX_SHOWN_CHARACTERS = 200_000;

type GraphJsonProps = { json: unknown; fileName: string; className?: string };

export function GraphJson({ json, fileName, className = "h-[360px] lg:h-[560px]" }: GraphJsonProps) {
  const t = useTranslations("graph");
  const text = useMemo(() => writeExactJson(json, 2), [json]);
  return (
    <div className="relative min-h-0">
      <div className="absolute top-2 right-5 flex items-center gap-1.5">
        <CopyButton text={text} label={t("copyJson")} className="size-[30px] border border-line-strong bg-surface" />
        <Button onClick={() => saveFile(fileName, new Blob([text], { type: "application/json" }))}>
          <Download aria-hidden="true" className="size-3.5" />
          {t("download")}
        </Button>
      </div>
      <pre tabIndex={0} aria-label={t("json")} className={cn("overflow-auto p-3.5 font-mono text-xs whitespace-pre", className)}>
        {text.slice(0, MAX_SHOWN_CHARACTERS)}
      </pre>
      {text.length > MAX_SHOWN_CHARACTERS ? <p className="border-t border-line px-3.5 py-2 text-ink-3">{t("cut")}</p> : null}
    </div>
  );
}
