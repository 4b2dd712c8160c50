type NewRowsProps = {
  count: number;
  /** "12 new jobs" */
  text: string;
  /** On a later page: opens the first page. */
  onFirstPage?: () => void;
};

/** New rows that wait above: a click scrolls to the top, where they appear. */
export function NewRows({ count, text, onFirstPage }: NewRowsProps) {
  if (count === 0) return null;
  return (
    <div className="pointer-events-none fixed inset-x-0 top-48 z-30 flex justify-center md:top-[calc(60px+var(--tool-bar))] md:left-[208px]">
      <button
        type="button"
        onClick={onFirstPage ?? (() => window.scrollTo({ top: 0 }))}
        className="pointer-events-auto rounded-full bg-accent px-3 py-1 font-medium text-accent-ink shadow-lg"
      >
        {text}
      </button>
    </div>
  );
}
