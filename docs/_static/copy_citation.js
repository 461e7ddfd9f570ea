// Buttons beside the citation of a rule and its address, which copy them.
"use strict";

function button(text, words) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      made.textContent = "copied";
    } catch {
      // Without the permission, or on a page that is not served safely: what is to be copied can be marked by hand.
      made.textContent = "not allowed to copy";
    }
    setTimeout(() => (made.textContent = words), 2000);
  });
  return made;
}

for (const line of document.querySelectorAll(".cite")) {
  const quoted = line.querySelector("q");
  const permanent = line.querySelector("a:last-of-type");
  quoted.after(" ", button(() => quoted.textContent, "copy"));
  permanent.after(" ", button(() => permanent.href.replace(/#.*$/, ""), "copy link"));
}
