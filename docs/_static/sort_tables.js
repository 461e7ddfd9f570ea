// The tables below .coverage sort by the column whose head is pressed, with a mouse or a key.
"use strict";

const numberOf = (text) => (/^\d+$/.test(text) ? Number(text) : text === "reason" ? -1 : -2);

const compare = (left, right) =>
  /^(\d+|-|reason)$/.test(left) && /^(\d+|-|reason)$/.test(right)
    ? numberOf(left) - numberOf(right)
    : left.localeCompare(right, "en");

function sort(table, column, head) {
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) {
    other.removeAttribute("aria-sort");
  }
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const textOf = (row) => row.cells[column].textContent.trim();
  const rows = Array.from(body.rows).sort((a, b) => compare(textOf(a), textOf(b)) * (descending ? -1 : 1));
  body.append(...rows);
}

for (const table of document.querySelectorAll(".coverage table")) {
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, head));
    head.append(button);
  });
}
