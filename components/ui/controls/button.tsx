import { cva, type VariantProps } from "class-variance-authority";
import { type ComponentProps, type ComponentType } from "react";
import { cn } from "../cn";

/** Also used for links that look like buttons: `<Link className={buttonStyle({ tone: "primary" })}>`. */
export const buttonStyle = cva(
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border whitespace-nowrap transition-colors duration-100 disabled:opacity-60 aria-disabled:opacity-60",
  {
    variants: {
      tone: {
        plain: "border-line-strong bg-surface text-ink hover:bg-sunken",
        primary: "border-ink bg-ink text-bg hover:opacity-90",
        danger: "border-line-strong bg-surface text-bad hover:bg-bad-soft",
        chosen: "border-transparent bg-off-soft font-semibold text-ink",
        quiet: "border-transparent bg-transparent text-ink-2 hover:bg-off-soft hover:text-ink",
      },
      size: {
        normal: "min-h-[30px] px-2.5 py-1",
        small: "min-h-6 px-2 py-0.5 text-sm",
        icon: "size-[30px] p-0",
        "small-icon": "size-7 p-0",
      },
    },
    defaultVariants: { tone: "plain", size: "normal" },
  },
);

export type ButtonProps = ComponentProps<"button"> & VariantProps<typeof buttonStyle> & { busy?: boolean };

/** While `busy`, the button keeps its width and focus and ignores clicks. */
export function Button({ tone, size, busy = false, className, type = "button", onClick, ...props }: ButtonProps) {
  return (
    <button
      {...props}
      type={busy && type === "submit" ? "button" : type}
      aria-disabled={busy || props["aria-disabled"] || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? undefined : onClick}
      className={cn(buttonStyle({ tone, size }), className)}
    />
  );
}

type IconButtonProps = Omit<ButtonProps, "aria-label" | "children"> & {
  icon: ComponentType<{ className?: string; "aria-hidden"?: "true" }>;
  label: string;
};

/** An icon button. The label is also the tooltip, unless `title` is set. */
export function IconButton({ icon: Icon, label, size = "icon", ...props }: IconButtonProps) {
  return (
    <Button title={label} {...props} size={size} aria-label={label}>
      <Icon aria-hidden="true" className={size === "icon" ? "size-4" : "size-3.5"} />
    </Button>
  );
}

/** The style of a filter chip: a link, a button or plain text. */
export function chipStyle(isActive: boolean, className?: string, hasBorder = false): string {
  return cn(
    "inline-flex items-center gap-1.5 rounded-full border px-2.5 py-[3px] whitespace-nowrap",
    isActive
      ? "border-ink bg-ink text-bg"
      : `${hasBorder ? "border-control" : "border-line"} bg-surface text-ink-2 hover:border-line-strong hover:text-ink`,
    className,
  );
}
