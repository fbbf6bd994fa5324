"use strict";
// The page is whole without this file. It follows Airflow's theme, opens trees, finds and sorts queries, refreshes the
// line of status, and lets links leave the frame.

const FIRST = 40; // queries that are shown at first
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

// What is searched and sorted stays in the address, so that a link to it can be shared.
function remember(name, value) {
  const address = new URL(location.href);
  if (value) address.searchParams.set(name, value);
  else address.searchParams.delete(name);
  history.replaceState(null, "", address);
}

// Of many queries the first are shown: what comes after them on the page is not far away.
function showQueries() {
  const words = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const rows = document.querySelectorAll("#queries tbody tr");
  let count = 0;
  for (const row of rows) {
    const fits = words.every((word) => row.dataset.text.includes(word));
    count += fits ? 1 : 0;
    row.hidden = !fits || (count > FIRST && !all.dataset.pressed);
  }
  document.getElementById("found").textContent = words.length ? `${count} of ${rows.length} queries` : "";
  all.hidden = count <= FIRST || Boolean(all.dataset.pressed);
  all.textContent = `Show all ${count} queries`;
  remember("find", find.value.trim());
}

function sortQueries(name, descending) {
  const body = document.querySelector("#queries tbody");
  const number = name === "share";
  const value = (row) => (number ? Number(row.dataset[name]) : row.dataset[name]);
  const rows = [...body.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
  });
  body.append(...rows);
  showQueries();
  for (const head of document.querySelectorAll("#queries th[data-sort]")) {
    if (head.dataset.sort === name) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  remember("sort", name === "id" && !descending ? "" : (descending ? "-" : "") + name);
}

function pressHead(event) {
  const head = event.target.closest("#queries th[data-sort]");
  if (!head) return;
  const name = head.dataset.sort;
  const now = head.getAttribute("aria-sort");
  sortQueries(name, now ? now === "ascending" : name === "share");
}

async function refreshStatus() {
  const line = document.getElementById("status");
  if (!line || document.hidden) return;
  try {
    const answer = await fetch(line.dataset.status, { credentials: "same-origin" });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("status");
    if (fresh) line.replaceWith(fresh);
  } catch {
    // the next attempt is soon
  }
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
document.addEventListener("click", pressHead);
setInterval(refreshStatus, 10000);
const find = document.getElementById("find");
const all = document.getElementById("all");
if (find) {
  const asked = new URLSearchParams(location.search);
  const sort = asked.get("sort") || "";
  find.value = asked.get("find") || "";
  if (document.querySelector(`#queries th[data-sort="${CSS.escape(sort.replace(/^-/, ""))}"]`)) {
    sortQueries(sort.replace(/^-/, ""), sort.startsWith("-"));
  }
  find.addEventListener("input", showQueries);
  all.addEventListener("click", () => {
    all.dataset.pressed = "yes";
    showQueries();
  });
  showQueries();
}
openTarget();
