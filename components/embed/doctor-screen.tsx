"use client";

import { Check, Minus, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { shareBearer } from "@/lib/browser/embed/embed-session";
import { type DoctorLine, examine } from "./examine";

type DoctorScreenProps = { origins: readonly string[]; origin: string };

/** The requirements of an embedded page, line by line: each is met, or names the one thing to change. */
export function DoctorScreen({ origins, origin }: DoctorScreenProps) {
  const t = useTranslations("embedding.doctor");
  const [lines, setLines] = useState<readonly DoctorLine[]>([]);
  const [isDone, setDone] = useState(false);
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    const stopping = new AbortController();
    const tell = (line: DoctorLine) => setLines((all) => [...all.filter(({ of }) => of !== line.of), line]);
    void examine({ origins, origin, signal: stopping.signal }, tell).then(() => setDone(!stopping.signal.aborted));
    return () => {
      stopping.abort();
      setLines([]);
    };
  }, [origins, origin]);
  return (
    <>
      <PageHeader title={t("title")} />
      <div className="flex max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        <p className="text-ink-2">{t("text")}</p>
        <Card title={t("lines")} bodyClassName="p-0">
          <ul aria-busy={!isDone}>
            {lines.map(({ of, is, value = "" }) => (
              <li key={of} className="flex items-start gap-2 border-b border-line px-3.5 py-2 last:border-b-0">
                <Mark is={is} label={t(`is.${is}`)} />
                <span className="min-w-0">
                  <b className="block font-medium">{t(`of.${of}`)}</b>
                  <span className="text-ink-2">
                    {is === "passed" ? t("is.passed") : is === "skipped" ? t("skipped") : t(`change.${of}`, { value })}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </>
  );
}

function Mark({ is, label }: { is: DoctorLine["is"]; label: string }) {
  const Icon = is === "passed" ? Check : is === "skipped" ? Minus : X;
  const tone = is === "passed" ? "text-ok" : is === "skipped" ? "text-ink-3" : "text-bad";
  return <Icon role="img" aria-label={label} className={`mt-0.5 size-4 shrink-0 ${tone}`} />;
}
