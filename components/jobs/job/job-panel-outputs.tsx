import { FileDown } from "lucide-react";
import { useTranslations } from "next-intl";
import { Picture } from "@/components/ui/pictures/picture";
import { thumbnailUrl, viewUrl } from "@/lib/browser/urls";
import { type JobFacts } from "./job-facts";

/** A strip is a glance; the page shows them all. */
const SHOWN = 12;

/** The first picture large, the rest of what came out in one strip below it. */
export function JobPanelOutputs({ facts: { outputs }, connection }: { facts: JobFacts; connection: string | undefined }) {
  const t = useTranslations("jobs.job.outputs");
  const files = outputs.flatMap(({ view }) => (view.file ? [{ ...view, file: view.file }] : []));
  const first = files.find(({ kind, temporary }) => kind === "image" && !temporary) ?? files.find(({ kind }) => kind === "image");
  const rest = files.filter((file) => file !== first);
  if (files.length === 0) return null;
  return (
    <section aria-label={t("title")} className="flex flex-col gap-2">
      {first ? (
        <a href={viewUrl({ ...first.file, connection })} target="_blank" rel="noreferrer" className="block rounded-sm">
          <Picture
            src={thumbnailUrl({ connection, file: first.file, edge: 512 })}
            alt={first.name}
            width={512}
            height={384}
            fit="contain"
            className="aspect-[4/3] h-auto w-full"
          />
        </a>
      ) : null}
      {rest.length > 0 ? (
        <ul className="flex gap-1.5 overflow-x-auto py-0.5">
          {rest.slice(0, SHOWN).map(({ nodeId, key, index, kind, name, file }) => (
            <li key={`${nodeId}/${key}/${index}`} className="shrink-0">
              <a href={viewUrl({ ...file, connection })} target="_blank" rel="noreferrer" title={name} className="block rounded-sm">
                {kind === "image" ? (
                  <Picture src={thumbnailUrl({ connection, file, edge: 128 })} alt={name} width={64} height={48} className="h-12 w-16" />
                ) : (
                  <span className="grid h-12 w-16 place-items-center rounded-sm bg-sunken text-ink-2">
                    <FileDown aria-hidden="true" className="size-4" />
                    <span className="sr-only">{name}</span>
                  </span>
                )}
              </a>
            </li>
          ))}
          {rest.length > SHOWN ? <li className="self-center px-1 text-ink-3">+{rest.length - SHOWN}</li> : null}
        </ul>
      ) : null}
    </section>
  );
}
