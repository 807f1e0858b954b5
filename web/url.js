// The view in the address: #tab=gaps&t=1000-2000&s=4.17&q=copy.  Whoever is sent it sees the same.

import { on, set, state } from "./state.js";

/** What an address says, as a change of the state; what it does not say is put back. */
export function read(hash, tabs) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const span = /^(-?\d+)-(-?\d+)$/.exec(said.get("t") ?? ""),
    item = /^(\d+)\.(\d+)$/.exec(said.get("s") ?? "");
  const marked = /^(-?\d+)-(-?\d+)$/.exec(said.get("m") ?? "");
  const is = (found) => found && Number(found[1]) < Number(found[2]);
  return {
    tab: tabs.includes(said.get("tab")) ? said.get("tab") : tabs[0],
    from: is(span) ? Number(span[1]) : null,
    to: is(span) ? Number(span[2]) : null,
    selection: item
      ? { track: Number(item[1]), item: Number(item[2]) }
      : is(marked)
        ? { from: Number(marked[1]), to: Number(marked[2]) }
        : null,
    query: said.get("q") ?? "",
    regex: said.get("regex") === "1",
  };
}

export function write(of) {
  const said = new URLSearchParams();
  said.set("tab", of.tab);
  if (of.from !== null) said.set("t", `${Math.round(of.from)}-${Math.round(of.to)}`);
  if (of.selection && "item" in of.selection) said.set("s", `${of.selection.track}.${of.selection.item}`);
  else if (of.selection) said.set("m", `${Math.round(of.selection.from)}-${Math.round(of.selection.to)}`);
  if (of.query) said.set("q", of.query);
  if (of.query && of.regex) said.set("regex", "1");
  return `#${said}`;
}

/** Keeps the address and the state the same. */
export function follow(tabs) {
  let timer = null,
    mine = null;
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  set(read(location.hash, tabs));
  on("tab from to selection query regex", () => {
    clearTimeout(timer); // browsers refuse many changes a second
    timer = setTimeout(() => {
      mine = write(state);
      if (mine !== location.hash) history.replaceState(null, "", mine);
    }, 200);
  });
  addEventListener("hashchange", () => {
    if (location.hash === mine) return;
    const change = read(location.hash, tabs);
    if (same(change.selection, state.selection)) delete change.selection;
    set(change);
  });
}
