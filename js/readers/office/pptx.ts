/** Reads presentations as the text of their slides and notes. `pages` selects slides. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { choosePages } from "../pages.ts";
import type { ReaderInput, Rendered } from "../reader.ts";
import { unsupportedFormatError } from "../refuse.ts";
import { openPackage } from "./package.ts";
import { attributeValue, readXmlText, xmlTokens } from "./xml.ts";
import { plural } from "../../engine/escape.ts";

const MAX_SLIDES = 500;

/** Reads PowerPoint presentations. */
export async function readPptx(input: ReaderInput): Promise<Rendered> {
  const parts = await openPackage(input);
  const show = await parts.part("ppt/presentation.xml");
  if (show === undefined)
    throw unsupportedFormatError(input.mime, "has no presentation in it", { reason: "damaged" });
  const targets = await parts.relations("ppt/presentation.xml");
  const slides: string[] = [];
  for (const token of xmlTokens(show)) {
    if (token.kind !== "open" || token.name !== "sldId") continue;
    const target = targets.get(/:id\s*=\s*["']([^"']*)/.exec(token.attributes)?.[1] ?? "");
    if (target !== undefined) slides.push(target);
  }
  const { numbers, next } = choosePages(input.options.pages, slides.length, MAX_SLIDES, "slide");
  const blocks: string[] = [];
  for (const number of numbers) {
    const slide = slides[number - 1] as string;
    const text = slideText((await parts.part(slide)) ?? "");
    blocks.push(`--- slide ${number} ---\n${text || "[no text on this slide]"}`);
    for (const target of (await parts.relations(slide)).values()) {
      if (!/notesSlide\d*\.xml$/.test(target)) continue;
      const notes = slideText((await parts.part(target)) ?? "");
      if (notes !== "") blocks.push(`[notes]\n${notes}`);
    }
  }
  const summary = `[presentation: ${plural(slides.length, "slide")}]`;
  const closing = next === undefined ? [] : [`[continue with pages="${next}"]`];
  return {
    text: [summary, ...blocks, ...closing].join("\n"),
    data: withoutUndefined({
      format: "pptx",
      slide_count: slides.length,
      slides: numbers,
      next_pages: next,
    }),
  };
}

/** Returns the paragraphs of a slide. Fields such as the slide number or the date are left out. */
function slideText(xml: string): string {
  const lines: string[] = [];
  let line = "";
  readXmlText(xml, "fld", {
    text(text) {
      line += text;
    },
    open({ name, attributes }) {
      if (name === "br") line += "\n";
      const description = name === "cNvPr" ? attributeValue(attributes, "descr") : undefined;
      if (description) lines.push(`[image: ${description.slice(0, 500)}]`);
    },
    close(name) {
      if (name !== "p") return;
      if (line.trim() !== "") lines.push(line.trimEnd());
      line = "";
    },
  });
  return lines.join("\n");
}
