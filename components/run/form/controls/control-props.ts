export type ControlProps = {
  id: string;
  value: unknown;
  onChange: (value: unknown) => void;
  disabled?: boolean;
  className?: string;
  placeholder?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
};
