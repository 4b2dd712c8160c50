"use client";

import { type ComponentProps } from "react";
import { Input } from "@/components/ui/input";

/** The console refuses a shorter one; here it is said before anything is sent. */
export const SHORTEST_PASSWORD = 10;
const LONGEST_PASSWORD = 200;

/** Takes what its form field gives it. */
export function NewPasswordInput(control: ComponentProps<typeof Input>) {
  return (
    <Input
      {...control}
      name="password"
      type="password"
      autoComplete="new-password"
      required
      minLength={SHORTEST_PASSWORD}
      maxLength={LONGEST_PASSWORD}
    />
  );
}
