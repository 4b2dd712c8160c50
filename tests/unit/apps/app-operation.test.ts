import { expect, it } from "vitest";
import { curlLine } from "@/components/apps/app-screen";
import { type AppInput } from "@/lib/contract/apps/app";

it("writes a shell command with safe quotes and file fields", () => {
  const text: AppInput = {
    name: "p",
    node: "1",
    input: "t",
    label: "P",
    help: "",
    group: "",
    control: { kind: "text", isLong: false },
    isRequired: true,
    example: "it's",
  };
  expect(curlLine("https://desk.example/api/apps/x/runs", [text])).toBe(
    String.raw`curl -H "Authorization: Bearer $LIGHTDESK_TOKEN" -H 'Content-Type: application/json' -d '{"inputs":{"p":"it'\''s"}}' 'https://desk.example/api/apps/x/runs'`,
  );
  const photo: AppInput = { ...text, name: "photo", control: { kind: "picture", hasMask: false } };
  expect(curlLine("https://desk.example/x", [text, photo])).toContain("-F 'photo=@photo'");
});
