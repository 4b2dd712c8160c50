import { type ReactNode } from "react";
import { cn } from "./cn";
import { ToneIcon } from "./status-badge";

type EmptyStateProps = {
  title: ReactNode;
  text?: ReactNode;
  action?: ReactNode;
};

export function EmptyState({ title, text, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-16 text-center">
      <p className="font-semibold">{title}</p>
      {text ? <p className="max-w-[46ch] text-ink-2">{text}</p> : null}
      {action ? <div className="mt-2">{action}</div> : null}
    </div>
  );
}

export function FullPageMessage({ title, text, action }: { title: string; text: string; action?: ReactNode }) {
  return (
    <div className="grid min-h-[calc(60*var(--dvh))] place-items-center">
      <EmptyState
        title={
          <span role="heading" aria-level={1}>
            {title}
          </span>
        }
        text={text}
        action={action}
      />
    </div>
  );
}

type FailureNoticeProps = {
  title: ReactNode;
  cause?: ReactNode;
  remedy?: ReactNode;
  detail?: ReactNode;
  actions?: ReactNode;
  className?: string;
};

export function FailureNotice({ title, cause, remedy, detail, actions, className }: FailureNoticeProps) {
  return (
    <div role="alert" className={cn("flex gap-2.5 rounded-lg border border-bad bg-bad-soft px-3.5 py-3", className)}>
      <span className="mt-0.5 text-bad">
        <ToneIcon tone="bad" />
      </span>
      <div className="min-w-0 flex-1">
        <p className="font-semibold">
          {title}
          {cause ? <span className="ml-2 font-normal text-ink-2">{cause}</span> : null}
        </p>
        {remedy ? <p className="text-ink-2">{remedy}</p> : null}
        {detail ? <div className="mt-1 font-mono text-sm break-words text-ink-2">{detail}</div> : null}
        {actions ? <div className="mt-2 flex flex-wrap gap-2">{actions}</div> : null}
      </div>
    </div>
  );
}
