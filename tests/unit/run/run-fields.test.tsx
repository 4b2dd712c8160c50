// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "@/tests/support/until";
import { sampleText } from "./files";
import { apiTo, field, openText, pressRun, type PromptServer, show } from "./page";
import { startPromptServer } from "./prompt-server";

let service: PromptServer;
beforeEach(async () => {
  service = await startPromptServer();
});
afterEach(async () => {
  cleanup();
  sessionStorage.clear();
  await service.stop();
});

describe("the fields", () => {
  it("hand on a number as soon as what is typed is one, and what was typed otherwise", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    const width = field("width");
    for (const text of ["1", "1.", "1.5", "", "abc"]) {
      fireEvent.change(width, { target: { value: text } });
      expect(width.value).toBe(text);
    }
    pressRun();
    await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "a" } }));
    await screen.findByRole("link", { name: "Open job a" });
    expect(service.received[0]?.prompt["1"]?.inputs.width).toBe("abc");
  });

  it("show a colour as a colour, and write it as the number of the family", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    const swatch = screen.getByLabelText<HTMLInputElement>("color as a colour");
    expect(swatch.value).toBe("#3366cc");
    fireEvent.change(swatch, { target: { value: "#ff0000" } });
    expect(field("color").value).toBe("16711680");
  });
});
