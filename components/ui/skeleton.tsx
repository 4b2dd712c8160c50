import { cn } from "./cn";

/** A grey block of the same size as the content that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cn("skeleton block animate-pulse bg-off-soft", className)} />;
}

type LoadingBlocksProps = { label: string; blocks: readonly string[]; className?: string };

/** Shows grey blocks, and announces to screen readers that the content is loading. */
export function LoadingBlocks({ label, blocks, className = "flex flex-col gap-3" }: LoadingBlocksProps) {
  return (
    <div role="status" aria-label={label} className={className}>
      {blocks.map((block, index) => (
        <Skeleton key={index} className={block} />
      ))}
    </div>
  );
}

type ProgressBarProps = {
  /** From 0 to 1. Values outside the range are clamped. */
  value: number;
  label: string;
  className?: string;
};

/** Uses an SVG, which needs no inline style. */
export function ProgressBar({ value, label, className }: ProgressBarProps) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className={cn("progress-bar overflow-hidden rounded-full bg-line align-middle", className)}
    >
      <svg className="block size-full" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={percent} height="1" className="fill-run" />
      </svg>
    </span>
  );
}

/** Fallback for optional chunks that fail to load, for example offline. */
export const loadEmptyComponent = () => () => null;
