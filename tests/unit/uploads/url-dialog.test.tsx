// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UrlDialog } from "@/components/transfers/downloads/url-dialog";
import { renderInApp } from "../components/render";

beforeEach(() => {
  // jsdom does not implement modal dialogs.
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const nothing = () => undefined;
const refuse = (status: number, code: string, message: string) => Response.json({ code, message, request_id: "r" }, { status });

test("a source that gave no answer can be asked again, and one that is not permitted cannot", async () => {
  const answers = [
    () => refuse(422, "UNPROCESSABLE", "The source gave no answer."),
    () => refuse(400, "UNSUPPORTED_SOURCE", "This service downloads only from huggingface.co."),
    () => Response.json({ content_length: 3_000_000, filename: "film.bin" }),
  ];
  vi.stubGlobal("fetch", async () => answers.shift()?.());
  const text = "https://slow.example/film.bin\nhttps://example.com/x";
  renderInApp(<UrlDialog text={text} onText={nothing} onStarted={nothing} onClose={nothing} />);
  await screen.findByText(/huggingface\.co\.$/);
  const again = screen.getAllByRole("button", { name: /^Check again/ });
  expect(again.map((button) => button.getAttribute("aria-label"))).toEqual(["Check again: https://slow.example/film.bin"]);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Fetch" }).disabled).toBe(true);
  for (const button of again) fireEvent.click(button);
  await screen.findByText("3 MB");
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Fetch 1 file" }).disabled).toBe(false));
});
