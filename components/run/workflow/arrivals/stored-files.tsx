import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { type RunPorts } from "@/components/run/run-ports";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/input";
import { Skeleton } from "@/components/ui/skeleton";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { toMilliseconds } from "@/lib/contract/times";

const MOST_SHOWN = 100;
const MANY = 10;

type StoredFilesProps = { connection?: string; listStored: RunPorts["listStored"]; onOpen: (path: string) => void };

/** Workflows stored at the service, listed only on a click: most people bring a file of their own. */
export function StoredFiles({ connection, listStored, onOpen }: StoredFilesProps) {
  const t = useTranslations("run.stored");
  const [isAsked, setAsked] = useState(false);
  const [search, setSearch] = useState("");
  const read = async () => {
    const files = await listStored();
    if (!files.ok) throw files.failure;
    return files.value;
  };
  const options = { shouldRetryOnError: false, revalidateOnFocus: false };
  const { data, error, mutate } = useSWR<UserdataFile[], ApiFailure>(isAsked ? ["run.stored", connection] : null, read, options);
  const found = (data ?? []).filter(({ path }) => /\.json$/i.test(path) && path.toLowerCase().includes(search.trim().toLowerCase()));
  return (
    <section aria-labelledby="stored-files">
      <h2 id="stored-files" className="font-semibold">
        {t("title")}
        <span className="ml-2 font-normal text-ink-3 max-sm:ml-0 max-sm:block">{t("note")}</span>
      </h2>
      <div className="mt-2.5">
        {!isAsked ? <Button onClick={() => setAsked(true)}>{t("show")}</Button> : null}
        {isAsked && !data && !error ? <Skeleton className="h-[46px] w-full" /> : null}
        {error ? <FailureMessage failure={error} onRetry={() => void mutate()} /> : null}
        {data && data.length > MANY ? (
          <Input
            type="search"
            aria-label={t("search")}
            placeholder={t("search")}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
            className="mb-2 max-w-80"
          />
        ) : null}
        {data && found.length === 0 ? <p className="text-ink-2">{t(search.trim() === "" ? "none" : "noneFound")}</p> : null}
        {found.length > 0 ? (
          <ul className="max-h-80 divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface">
            {found.slice(0, MOST_SHOWN).map((file) => (
              <StoredFile key={file.path} file={file} onOpen={onOpen} />
            ))}
          </ul>
        ) : null}
        {found.length > MOST_SHOWN ? <p className="mt-1.5 text-ink-2">{t("more", { count: found.length - MOST_SHOWN })}</p> : null}
      </div>
    </section>
  );
}

function StoredFile({ file, onOpen }: { file: UserdataFile; onOpen: StoredFilesProps["onOpen"] }) {
  const modified = toMilliseconds(file.modified);
  return (
    <li>
      <button
        type="button"
        onClick={() => onOpen(file.path)}
        className="flex min-h-[38px] w-full items-center gap-3 px-3.5 py-1.5 text-left hover:bg-bg"
      >
        <span className="min-w-0 flex-1 truncate font-mono text-sm" title={file.path}>
          {file.path.replace(/^workflows\//, "")}
        </span>
        {modified === undefined ? null : <RelativeTime ms={modified} className="text-sm whitespace-nowrap text-ink-3" />}
      </button>
    </li>
  );
}
