import { Play } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { Button } from "@/components/ui/controls/button";
import { Picture } from "@/components/ui/pictures/picture";
import { callApi } from "@/lib/browser/api";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type LackingClasses } from "@/lib/contract/console";
import { useConnection } from "../connection/connection-context";
import { type CurrentConnection } from "../connection/current-connection";
import { sampleClasses, type SampleName, samples } from "./samples";

type SampleCardsProps = {
  names: readonly SampleName[];
  /** Absent if the member may not run jobs, or if the sample is only selected. */
  onRun?: (name: SampleName) => Promise<void>;
  onOpen: (name: SampleName) => Promise<void>;
};

/** Shows samples with their output images. A click opens a sample as a form, and Run starts it. */
export function SampleCards({ names, onRun, onOpen }: SampleCardsProps) {
  const connection = useConnection();
  const missingClasses = useMissingClasses(connection);
  return (
    <ul className="grid grid-cols-2 gap-2.5 sm:gap-3 lg:grid-cols-4">
      {names.map((name, index) => (
        <SampleCard
          key={name}
          name={name}
          eager={index < 4}
          missingClasses={sampleClasses[name].filter((className) => missingClasses.includes(className))}
          connectionName={connection?.name ?? ""}
          onRun={onRun}
          onOpen={onOpen}
        />
      ))}
    </ul>
  );
}

type SampleCardProps = Omit<SampleCardsProps, "names"> & {
  name: SampleName;
  eager: boolean;
  missingClasses: readonly string[];
  connectionName: string;
};

function SampleCard({ name, eager, missingClasses, connectionName, onRun, onOpen }: SampleCardProps) {
  const title = useTranslations("frame.samples")(name);
  const t = useTranslations("samples");
  const [busyWith, setBusyWith] = useState<"run" | "open">();
  function start(action: "run" | "open", handler: (name: SampleName) => Promise<void>) {
    if (busyWith) return;
    setBusyWith(action);
    void handler(name).finally(() => setBusyWith(undefined));
  }
  return (
    <li className="flex min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface transition-colors duration-100 hover:border-control">
      <button
        type="button"
        aria-busy={busyWith === "open"}
        onClick={() => start("open", onOpen)}
        className="flex flex-1 flex-col text-left focus-visible:-outline-offset-2"
      >
        <Picture
          src={apiPath(`/samples/pictures/${name}.webp`)}
          alt=""
          width={480}
          height={360}
          eager={eager}
          className="aspect-[4/3] h-auto w-full rounded-none"
        />
        <span className="flex flex-col gap-0.5 px-3 pt-2 pb-2.5">
          <span className="font-semibold">{title}</span>
          <span className="text-ink-2 max-sm:hidden">{t(`text.${name}`)}</span>
        </span>
      </button>
      {missingClasses.length > 0 ? (
        <p className="px-3 pb-2.5 text-sm text-wait">{t("lacks", { connection: connectionName, classes: missingClasses.join(", ") })}</p>
      ) : null}
      {onRun && missingClasses.length === 0 ? (
        <div className="px-3 pb-3">
          <Button size="small" busy={busyWith !== undefined} aria-label={t("runOf", { name: title })} onClick={() => start("run", onRun)}>
            <Play aria-hidden="true" className="size-3" />
            {t("run")}
          </Button>
        </div>
      ) : null}
    </li>
  );
}

const noClasses: readonly string[] = [];
const allClasses = [...new Set(samples.flatMap((name) => sampleClasses[name]))].sort().join(",");

/** Returns the samples' node classes that the service does not have. Empty while unknown. The embedded service has all of them. */
function useMissingClasses(connection: CurrentConnection | undefined): readonly string[] {
  const isRequested = connection !== undefined && !connection.embedded;
  const path = isRequested ? withQuery("/api/console/lacking-classes", { names: allClasses, connection: connection.id }) : undefined;
  const { data } = useSWR(path, fetchMissingClasses, {
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    revalidateIfStale: false,
    shouldRetryOnError: false,
  });
  return data ?? noClasses;
}

/** Other requests report outages, so a failure is ignored here. */
async function fetchMissingClasses(path: `/${string}`): Promise<readonly string[]> {
  const result = await callApi<LackingClasses>(path);
  return result.ok ? result.value.lacking : noClasses;
}
