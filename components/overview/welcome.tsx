import { FileJson2, type LucideIcon, Plug, UserPlus } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { useDenialText } from "@/components/frame/member-context";
import { SampleCards } from "@/components/frame/samples/sample-cards";
import { requestRun, type SampleName, samples } from "@/components/frame/samples/samples";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useDropTarget } from "@/components/ui/hooks/use-drop-target";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { ButtonLink, useRouter } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";

/** Shown before the first run: an introduction and the options to start. */
export function Welcome({ canRun, canManage }: { canRun: boolean; canManage: boolean }) {
  const t = useTranslations("overview.welcome");
  const getDenialText = useDenialText();
  const router = useRouter();
  const connection = useConnection();
  const connectionParam = useConnectionParam();
  const openRunPage = (values: { sample?: SampleName } = {}) => router.push(withQuery("/run", { ...values, connection: connectionParam }));
  return (
    <div className="mx-auto flex w-full max-w-[1120px] flex-col gap-5 px-4 py-6 md:px-5">
      <div>
        <h2 className="text-lg font-semibold">{t("title")}</h2>
        <p className="max-w-[80ch] text-ink-2">
          {canRun ? t("lead", { connection: connection?.name ?? "" }) : getDenialText(t("viewer"))}
          {canRun && connection?.embedded ? ` ${t("embedded")}` : null}
        </p>
      </div>
      <section aria-label={t("samples")}>
        <SampleCards
          names={samples}
          onOpen={async (sample) => openRunPage({ sample })}
          onRun={
            canRun
              ? async (sample) => {
                  requestRun({ sample });
                  openRunPage();
                }
              : undefined
          }
        />
      </section>
      <div className="grid gap-3 md:grid-cols-[2fr_1fr_1fr]">
        <OwnWorkflow
          canRun={canRun}
          onFiles={(files) => {
            requestRun({ files });
            openRunPage();
          }}
        />
        <Step icon={Plug} title={t("connect.title")} text={t("connect.text")}>
          <ButtonLink href="/settings">{t("connect.action")}</ButtonLink>
        </Step>
        {canManage ? (
          <Step icon={UserPlus} title={t("invite.title")} text={t("invite.text")}>
            <ButtonLink href="/settings/members?invite=1">{t("invite.action")}</ButtonLink>
          </Step>
        ) : null}
      </div>
    </div>
  );
}

function OwnWorkflow({ canRun, onFiles }: { canRun: boolean; onFiles: (files: File[]) => void }) {
  const t = useTranslations("overview.welcome.own");
  const { input, open } = useFilePicker({
    accept: ".json,application/json,image/*",
    testId: "own-workflow",
    onFiles: (files) => files.length > 0 && onFiles(files),
  });
  const { isOver, props } = useDropTarget(onFiles);
  return (
    <Step
      icon={FileJson2}
      title={t("title")}
      text={t("text", { canRun: canRun ? "yes" : "no" })}
      drop={props}
      className={cn("border-dashed", isOver ? "border-accent bg-accent-soft" : plainStep)}
    >
      <Button onClick={open}>{t("pick")}</Button>
      {input}
    </Step>
  );
}

type StepProps = {
  icon: LucideIcon;
  title: string;
  text: string;
  drop?: ReturnType<typeof useDropTarget>["props"];
  className?: string;
  children: ReactNode;
};

const plainStep = "border-control bg-surface";

function Step({ icon: Icon, title, text, drop, className = plainStep, children }: StepProps) {
  return (
    <section {...drop} aria-label={title} className={cn("flex flex-col items-start gap-1 rounded-lg border p-3.5", className)}>
      <Icon aria-hidden="true" className="mb-1 size-5 text-ink-3" strokeWidth={1.5} />
      <h3 className="font-semibold">{title}</h3>
      <p className="mb-2 text-ink-2">{text}</p>
      <div className="mt-auto">{children}</div>
    </section>
  );
}
