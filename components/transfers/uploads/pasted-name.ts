import { chosenZone } from "@/components/ui/time/time-zone";

const moment = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;

/** A browser calls every pasted picture image.png: the moment, in the zone of every other time, tells them apart. A file that was copied keeps its name. */
export function pastedName(file: File, at: Date): File {
  const plain = /^image(\.\w+)$/i.exec(file.name);
  if (!plain) return file;
  const format = new Intl.DateTimeFormat("en-GB", { ...moment, hourCycle: "h23", timeZone: chosenZone() });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const [day, time] = [
    [parts.get("year"), parts.get("month"), parts.get("day")],
    [parts.get("hour"), parts.get("minute"), parts.get("second")],
  ].map((each) => each.join("-"));
  return new File([file], `pasted ${day} ${time}${plain[1]}`, { type: file.type, lastModified: at.getTime() });
}
