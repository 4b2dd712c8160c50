import { expect, it } from "vitest";
import { formatCurlCommand } from "@/components/apps/app-screen";
import { type AppInput } from "@/lib/contract/apps/app";

it("escapes quotes and adds file fields when it writes a curl command", () => {
  const textInput: AppInput = {
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
  expect(formatCurlCommand("https://desk.example/api/apps/x/runs", [textInput])).toBe(
    String.raw`curl -H "Authorization: Bearer $LIGHTDESK_TOKEN" -H 'Content-Type: application/json' -d '{"inputs":{"p":"it'\''s"}}' 'https://desk.example/api/apps/x/runs'`,
  );
  const photo: AppInput = { ...textInput, name: "photo", control: { kind: "picture", hasMask: false } };
  expect(formatCurlCommand("https://desk.example/x", [textInput, photo])).toContain("-F 'photo=@photo'");
});
