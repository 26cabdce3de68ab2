"use strict";

// Moments in the reader's own time.
for (const time of document.querySelectorAll("time")) {
  time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

// Up and down go from row to row.
const rows = () => [...document.querySelectorAll("summary")].filter((row) => row.checkVisibility());
document.querySelector(".keys").hidden = false;
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const at = rows().indexOf(document.activeElement);
  if (!step || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = rows()[at + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

// A link to a row opens it: replies.html#r3s1.
const openLinked = () => {
  const linked = document.getElementById(location.hash.slice(1));
  for (let place = linked; place; place = place.parentElement) {
    if (place.tagName === "DETAILS") place.open = true;
  }
  linked?.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", openLinked);
openLinked();
