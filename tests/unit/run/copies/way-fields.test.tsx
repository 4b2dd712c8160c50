// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it } from "vitest";
import { type Typed, variationOf } from "@/components/run/copies/variation";
import { WayFields } from "@/components/run/copies/way-fields";
import { type FormField } from "@/components/run/form/form-model";
import { apiTo } from "../page";
import { renderPage } from "../render";

afterEach(cleanup);

const options = ["area", "bicubic", "bilinear", "lanczos", "nearest-exact"];
const field: FormField = { name: "method", value: "area", control: { kind: "choice", options } };
const nothing: Typed = { list: "", from: "", to: "", step: "", count: "", chosen: [], pictures: [] };
const picture = { ...apiTo(undefined), canSend: true, onNamed: () => undefined };

it("a press with Shift on the words is one on their box, once", () => {
  const chosen: unknown[] = [];
  function Choices() {
    const [now, setNow] = useState(nothing);
    const take = (more: Partial<Typed>) => {
      chosen.push(more.chosen);
      setNow({ ...now, ...more });
    };
    return <WayFields field={field} way="chosen" typed={now} picture={picture} onTyped={take} />;
  }
  renderPage(<Choices />);
  fireEvent.click(screen.getByText("bicubic"));
  fireEvent.click(screen.getByText("lanczos"), { shiftKey: true });
  expect(document.activeElement).toBe(screen.getByRole("checkbox", { name: "lanczos" }));
  fireEvent.click(screen.getByText("bilinear"), { shiftKey: true });
  expect(chosen).toEqual([["bicubic"], ["bicubic", "bilinear", "lanczos"], ["bicubic"]]);
  expect(options.filter((name) => screen.getByRole<HTMLInputElement>("checkbox", { name }).checked)).toEqual(["bicubic"]);
});

it("a press with Shift ticks every choice from the one before to this one, and unticks them alike; those are what is run", () => {
  let typed = nothing;
  function Choices() {
    const [now, setNow] = useState(nothing);
    typed = now;
    return <WayFields field={field} way="chosen" typed={now} picture={picture} onTyped={(more) => setNow({ ...now, ...more })} />;
  }
  renderPage(<Choices />);
  const box = (name: string) => screen.getByRole<HTMLInputElement>("checkbox", { name });
  fireEvent.click(box("lanczos"));
  fireEvent.click(box("bicubic"), { shiftKey: true });
  expect(variationOf(field, "chosen", typed)).toEqual({ ok: true, values: ["bicubic", "bilinear", "lanczos"] });
  fireEvent.click(box("area"));
  fireEvent.click(box("lanczos"));
  fireEvent.click(box("bilinear"), { shiftKey: true });
  expect(variationOf(field, "chosen", typed)).toEqual({ ok: true, values: ["area", "bicubic"] });
  expect(options.filter((name) => box(name).checked)).toEqual(["area", "bicubic"]);
});
