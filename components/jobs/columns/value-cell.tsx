import { useEffect, useRef, useState } from "react";
import { useTranslations } from "next-intl";
import useSWR from "swr";
import { Cut } from "@/components/ui/cut";
import { withQuery } from "@/lib/browser/urls";
import { readInputs } from "./job-inputs";

type ValueCellProps = { id: string; connection: string | undefined; node: string; input: string };

/** One input of one node. The job's details are asked for once it has been in view, and once for all columns of values. */
export function ValueCell({ id, connection, node, input }: ValueCellProps) {
  const t = useTranslations("jobList");
  const cell = useRef<HTMLSpanElement>(null);
  const [wasSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = cell.current;
    if (!element || wasSeen) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [wasSeen]);
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const { data, error } = useSWR(wasSeen ? ["inputs", path] : null, () => readInputs(path), {
    // What was submitted does not change.
    revalidateIfStale: false,
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
  });
  const value = data?.[node]?.[input];
  return (
    <span ref={cell} className="relative block" title={error ? t("valueFailed") : undefined}>
      {value === undefined ? data || error ? t("nothing") : " " : <Cut text={value} />}
    </span>
  );
}
