import { type ComponentProps } from "react";
import { Input } from "@/components/ui/controls/input";
import { MAX_PASSWORD_LENGTH, SHORTEST_PASSWORD } from "@/lib/contract/people/sign-in";

/** Takes the attributes that its form field passes. */
export function NewPasswordInput(control: ComponentProps<typeof Input>) {
  return (
    <Input
      {...control}
      name="password"
      type="password"
      autoComplete="new-password"
      required
      minLength={SHORTEST_PASSWORD}
      maxLength={MAX_PASSWORD_LENGTH}
    />
  );
}
