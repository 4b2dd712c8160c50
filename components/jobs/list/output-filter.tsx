"use client";

import { useTranslations } from "next-intl";
import { useConnection } from "@/components/frame/connection-context";
import { chipStyle } from "@/components/ui/chip";
import { Select } from "@/components/ui/select";
import { outputTypes } from "./list-address";
import { type Place } from "./use-list-state";

/** A plain local server does not filter by what came out; what an address asks for all the same can be taken back. */
export function OutputFilter({ place: { query, go } }: { place: Pick<Place, "query" | "go"> }) {
  const t = useTranslations("jobs.filter");
  const isLocal = useConnection()?.isLocal === true;
  if (isLocal && query.output_type === undefined) return null;
  return (
    <Select
      aria-label={t("output")}
      value={query.output_type ?? ""}
      onChange={({ currentTarget: { value } }) => go({ output_type: outputTypes.find((type) => type === value) })}
      className={chipStyle(query.output_type !== undefined, "h-[28px] w-auto max-sm:text-[13px]")}
    >
      <option value="">{t("outputs.any")}</option>
      {outputTypes.map((type) => (
        <option key={type} value={type}>
          {t(`outputs.${type}`)}
        </option>
      ))}
    </Select>
  );
}
