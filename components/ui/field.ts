/** The look that inputs, text areas and selects share. The border reaches 3:1 against every surface. */
export const fieldStyle =
  "w-full rounded-md border border-control bg-surface px-2.5 py-1 text-ink placeholder:text-ink-3 disabled:opacity-60 aria-invalid:border-bad max-sm:text-[16px]";
