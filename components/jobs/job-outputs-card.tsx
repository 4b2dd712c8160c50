"use client";

import { FileDown } from "lucide-react";
import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Picture } from "@/components/ui/picture";
import { type ThumbnailEdge, thumbnailUrl, viewUrl } from "@/lib/browser/urls";
import { type OutputFile } from "@/lib/contract/outputs-view";
import { type JobFacts } from "./job-facts";

type Output = JobFacts["outputs"][number];

/** Pictures as pictures, texts as text, everything else as a link to the file. */
export function JobOutputs({ facts: { job, outputs }, connection }: { facts: JobFacts; connection?: string }) {
  const t = useTranslations("jobs.job.outputs");
  if (outputs.length === 0) {
    return job.terminal ? (
      <Card title={t("title")}>
        <p className="text-ink-3">{t("none")}</p>
      </Card>
    ) : null;
  }
  const pictures = outputs.flatMap(({ view, node }) => (view.kind === "image" && view.file ? [{ view, node, file: view.file }] : []));
  const others = outputs.filter(({ view }) => view.kind !== "image" || !view.file);
  const isAlone = pictures.length === 1;
  return (
    <Card title={t("title")} note={outputs.length.toLocaleString("en")} bodyClassName="flex flex-col gap-3">
      {pictures.length > 0 ? (
        <ul className={cn("grid gap-3", isAlone ? "max-w-[640px]" : "grid-cols-[repeat(auto-fill,minmax(min(220px,100%),1fr))]")}>
          {pictures.map(({ view, node, file }) => (
            <OutputPicture
              key={keyOf(view)}
              file={file}
              name={view.name}
              note={view.temporary ? t("temporary") : node}
              edge={isAlone ? 1024 : 512}
              connection={connection}
            />
          ))}
        </ul>
      ) : null}
      {others.length > 0 ? (
        <ul className="flex flex-col gap-2">
          {others.map((output) => (
            <OtherOutput key={keyOf(output.view)} output={output} connection={connection} />
          ))}
        </ul>
      ) : null}
    </Card>
  );
}

function keyOf({ nodeId, key, index }: Output["view"]): string {
  return `${nodeId}/${key}/${index}`;
}

function OutputPicture({
  file,
  name,
  note,
  edge,
  connection,
}: {
  file: OutputFile;
  name: string;
  note: string;
  edge: ThumbnailEdge;
  connection?: string;
}) {
  return (
    <li className="min-w-0">
      <a href={viewUrl({ ...file, connection })} target="_blank" rel="noreferrer" className="block rounded-sm">
        <Picture
          src={thumbnailUrl({ connection, file, edge })}
          alt={name}
          width={512}
          height={384}
          fit="contain"
          className="aspect-[4/3] h-auto w-full"
        />
        <span className="mt-1 flex items-baseline gap-2">
          <span title={name} className="min-w-0 flex-1 truncate">
            {name}
          </span>
          <span className="text-sm text-ink-3">{note}</span>
        </span>
      </a>
    </li>
  );
}

function OtherOutput({ output: { view, node }, connection }: { output: Output; connection?: string }) {
  const text = view.text ?? (view.json === undefined ? undefined : JSON.stringify(view.json, null, 2));
  return (
    <li className="flex items-start gap-2">
      {view.file ? (
        <a
          href={viewUrl({ ...view.file, connection })}
          className="inline-flex min-w-0 flex-1 items-center gap-1.5 text-accent hover:underline"
        >
          <FileDown aria-hidden="true" className="size-4 shrink-0" />
          <span className="truncate">{view.name}</span>
        </a>
      ) : (
        <pre className="min-w-0 flex-1 font-mono text-sm break-words whitespace-pre-wrap">{text}</pre>
      )}
      <span className="text-sm text-ink-3">{node}</span>
    </li>
  );
}
