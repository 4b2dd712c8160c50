"use client";

import { FileDown } from "lucide-react";
import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { Picture } from "@/components/ui/picture";
import { thumbnailUrl, viewUrl } from "@/lib/browser/urls";
import { type JobOutput } from "./job-outputs";
import { type JobView } from "./job-view";

type JobOutputsProps = { view: JobView; connection?: string };

export function JobOutputs({ view, connection }: JobOutputsProps) {
  const t = useTranslations("jobs.job.outputs");
  const { outputs } = view;
  const pictures = outputs.flatMap((output) => (output.kind === "image" ? [output] : []));
  const others = outputs.flatMap((output) => (output.kind === "image" ? [] : [output]));
  if (outputs.length === 0)
    return view.isFinal ? (
      <Card title={t("title")}>
        <p className="text-ink-3">{t("none")}</p>
      </Card>
    ) : null;
  return (
    <Card title={t("title")} note={outputs.length.toLocaleString("en")}>
      {pictures.length > 0 ? (
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(220px,100%),1fr))] gap-3">
          {pictures.map((output) => (
            <li key={output.key} className="min-w-0">
              <a href={viewUrl({ ...output.file, connection })} target="_blank" rel="noreferrer" className="block rounded-sm">
                <Picture
                  src={thumbnailUrl({ connection, file: output.file, edge: 512 })}
                  alt={output.name}
                  width={512}
                  height={384}
                  fit="contain"
                  className="aspect-[4/3] h-auto w-full"
                />
                <span className="mt-1 flex items-baseline gap-2">
                  <span title={output.name} className="min-w-0 flex-1 truncate">
                    {output.name}
                  </span>
                  <span className="text-sm text-ink-3">{output.isTemporary ? t("temporary") : output.node}</span>
                </span>
              </a>
            </li>
          ))}
        </ul>
      ) : null}
      {others.length > 0 ? (
        <ul className={pictures.length > 0 ? "mt-3 flex flex-col gap-2" : "flex flex-col gap-2"}>
          {others.map((output) => (
            <OtherOutput key={output.key} output={output} connection={connection} />
          ))}
        </ul>
      ) : null}
    </Card>
  );
}

function OtherOutput({ output, connection }: { output: JobOutput; connection?: string }) {
  return (
    <li className="flex items-start gap-2">
      {output.kind === "text" ? (
        <pre className="min-w-0 flex-1 font-mono text-sm break-words whitespace-pre-wrap">{output.text}</pre>
      ) : (
        <a
          href={viewUrl({ ...output.file, connection })}
          className="inline-flex min-w-0 flex-1 items-center gap-1.5 text-accent hover:underline"
        >
          <FileDown aria-hidden="true" className="size-4 shrink-0" />
          <span className="truncate">{output.name}</span>
        </a>
      )}
      <span className="text-sm text-ink-3">{output.node}</span>
    </li>
  );
}
