"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { Button } from "@/components/ui/button";
import { chipStyle } from "@/components/ui/chip";
import { Dialog } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type JobPeople } from "@/lib/contract/console-job-search";

type PersonChipProps = { member: string | undefined; connection: string | undefined; onPick: (member: string | undefined) => void };

async function readPeople(path: `/${string}`): Promise<JobPeople["people"]> {
  const result = await callApi<JobPeople>(path);
  if (!result.ok) throw result.failure;
  return result.value.people;
}

/** Who submitted it. The people are asked for when somebody is chosen or about to be. */
export function PersonChip({ member, connection, onPick }: PersonChipProps) {
  const t = useTranslations("jobSearch");
  const common = useTranslations("common");
  const [isPicking, setPicking] = useState(false);
  const path = isPicking || member !== undefined ? withQuery("/api/console/jobs/people", { connection }) : null;
  const { data: people, error } = useSWR<JobPeople["people"], ApiFailure>(path, readPeople, { revalidateOnFocus: false });
  const name = people?.find(({ id }) => id === member)?.name ?? (people ? t("unknownPerson") : "…");
  const pick = (id: string | undefined) => {
    setPicking(false);
    onPick(id);
  };
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setPicking(true)} className={chipStyle(member !== undefined, "max-w-52")}>
        <span className="truncate">{member === undefined ? t("person") : t("personIs", { name })}</span>
        <span aria-hidden="true">▾</span>
      </button>
      {isPicking ? (
        <Dialog
          isOpen
          onClose={() => setPicking(false)}
          title={t("personDialog.title")}
          actions={
            <>
              {member === undefined ? null : <Button onClick={() => pick(undefined)}>{t("personDialog.any")}</Button>}
              <Button onClick={() => setPicking(false)}>{common("close")}</Button>
            </>
          }
        >
          <p className="text-sm text-ink-3">{t("personDialog.hint")}</p>
          <ul className="mt-2 flex max-h-72 flex-col overflow-y-auto">
            {people?.map(({ id, name: personName }) => (
              <li key={id}>
                <button
                  type="button"
                  aria-current={id === member ? "true" : undefined}
                  onClick={() => pick(id)}
                  className="w-full truncate rounded-md px-2 py-1.5 text-left text-ink hover:bg-sunken"
                >
                  {personName}
                </button>
              </li>
            ))}
          </ul>
          {people?.length === 0 ? <p role="status">{t("personDialog.none")}</p> : null}
          {error ? <p className="text-bad">{t("personDialog.failed")}</p> : null}
        </Dialog>
      ) : null}
    </>
  );
}
