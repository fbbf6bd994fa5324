"use strict";
// The page is whole without this file. It follows Airflow's theme, opens trees, finds queries, and lets links leave the frame.

const root = document.documentElement;

function followTheme() {
  const chosen = localStorage.getItem("theme"); // Airflow keeps its choice here: light, dark or system
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  else delete root.dataset.theme;
}

function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const tree = target && target.closest("details");
  if (!tree) return;
  tree.open = true;
  tree.querySelector("summary").focus({ preventScroll: true });
  tree.scrollIntoView({ block: "start" });
}

function findQuery(text) {
  const wanted = text.trim().toLowerCase();
  let found = 0;
  for (const tree of document.querySelectorAll("details.tree")) {
    let here = 0;
    for (const row of tree.querySelectorAll("tr[data-query]")) {
      row.hidden = wanted !== "" && !row.dataset.query.includes(wanted);
      here += row.hidden ? 0 : 1;
    }
    tree.hidden = wanted !== "" && here === 0;
    tree.open = wanted !== "" && here > 0;
    found += here;
  }
  const words = found === 1 ? "1 query" : `${found} queries`;
  document.getElementById("found").textContent = wanted === "" ? "" : words;
}

// Airflow's frame may not open windows: the link is followed by the page around it, which has the same origin.
// What lies outside of Airflow gets a window of its own, Airflow's own pages take the place of this one.
function leaveFrame(event) {
  const link = event.target.closest("a[data-outside], a[data-around]");
  if (!link || window.parent === window) return;
  const outside = window.parent.document.createElement("a");
  outside.href = link.href;
  if ("outside" in link.dataset) outside.target = "_blank";
  outside.rel = "noopener";
  outside.click();
  event.preventDefault();
}

followTheme();
window.addEventListener("storage", followTheme);
window.addEventListener("hashchange", openTarget);
document.addEventListener("click", leaveFrame);
const find = document.getElementById("find");
if (find) find.addEventListener("input", () => findQuery(find.value));
openTarget();
