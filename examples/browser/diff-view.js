// A diff as a table: what was added and removed is told by a mark and by words for
// whoever hears the page, not by colour alone. Content is only ever text.
const WORDS = { "+": "added", "-": "removed" };

/** A cell with text in it. */
function cell(text, className) {
  const made = document.createElement("td");
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/**
 * @param {string} path what the diff is of
 * @param {{ hunks: readonly { oldStart: number, oldLines: number, newStart: number, newLines: number, lines: readonly string[] }[], added: number, removed: number }} diff
 */
export function diffView(path, change, { hunks, added, removed }) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = `${path}: ${change}; lines: ${added} added, ${removed} removed`;
  const table = document.createElement("table");
  const body = table.createTBody();
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    const place = body.insertRow();
    place.className = "place";
    const where = cell(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`);
    where.colSpan = 3;
    place.append(where);
    let [before, after] = [oldStart, newStart];
    for (const line of lines) {
      const mark = line[0] ?? " ";
      const word = WORDS[mark];
      const row = body.insertRow();
      if (word) row.className = word;
      const content = cell(line);
      if (word) {
        const unseen = document.createElement("span");
        unseen.className = "unseen";
        unseen.textContent = `${word}: `;
        content.prepend(unseen);
      }
      const old = mark === "-" || mark === " " ? String(before++) : "";
      const now = mark === "+" || mark === " " ? String(after++) : "";
      row.append(cell(old, "number"), cell(now, "number"), content);
    }
  }
  figure.append(caption, table);
  return figure;
}
