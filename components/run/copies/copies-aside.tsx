import { useTranslations } from "next-intl";
import { useConnections } from "@/components/frame/connection/connection-context";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { CopiesEnd, type CopiesWork } from "./copies-card";
import { CopiesProgress } from "./copies-progress";
import { type CopiesSet } from "./copies-state";
import { useCopyJobs } from "./use-copy-jobs";

type CopiesAsideProps = {
  set: CopiesSet;
  fallbackName: string;
  /** The page shows another connection than the one these copies are sent on. */
  isElsewhere: boolean;
  work: CopiesWork;
  onShow: () => void;
};

/** One line for copies of another workflow than the open one, or on another connection: their progress, and a button that shows them. */
export function CopiesAside({ set, fallbackName, isElsewhere, work, onShow }: CopiesAsideProps) {
  const t = useTranslations("run.copies");
  const live = useCopyJobs(set);
  const place = useConnections().find(({ id }) => id === set.connection)?.name;
  const count = set.copies.length;
  const name = set.name || fallbackName;
  return (
    <section
      aria-label={t("card", { count, name })}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-surface px-3.5 py-2"
    >
      <span className="min-w-0 flex-1 basis-52 truncate">
        {isElsewhere && place !== undefined ? t("cardOn", { count, name, connection: place }) : t("card", { count, name })}
      </span>
      <CopiesProgress set={set} jobs={live.jobs} />
      <span className="flex gap-2">
        {isElsewhere ? (
          <Link href={withQuery("/run", { connection: set.connection })} className={buttonStyle({ size: "small" })}>
            {t("showThere")}
          </Link>
        ) : (
          <Button size="small" onClick={onShow}>
            {t("show")}
          </Button>
        )}
        <CopiesEnd set={set} work={work} />
      </span>
    </section>
  );
}
