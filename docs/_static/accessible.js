// What the theme leaves out: the level of the headings in the side bar, and a way for a key to scroll what is wide.
"use strict";

function mend() {
  for (const heading of document.querySelectorAll('[role="heading"]:not([aria-level])')) {
    heading.setAttribute("aria-level", "2");
  }
  for (const wide of document.querySelectorAll("pre, .table-wrapper")) {
    if (wide.scrollWidth > wide.clientWidth) {
      wide.tabIndex = 0;
    } else {
      wide.removeAttribute("tabindex");
    }
  }
}

mend();
window.addEventListener("load", mend);
window.addEventListener("resize", mend);
